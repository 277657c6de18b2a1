from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fonte.config import SECTIONS, Settings, find_config, load_settings, variables
from fonte.errors import ConfigError
from fonte.types import ChunkingRecipe


def load(
    folder: Path, text: str, environ: Mapping[str, str] | None = None, overrides: Mapping[str, object] | None = None
) -> Settings:
    path = folder / "fonte.toml"
    path.write_text(text, encoding="utf-8")
    return load_settings(path, folder / ".fonte", environ or {}, overrides)


def refusal(
    folder: Path, text: str, environ: Mapping[str, str] | None = None, overrides: Mapping[str, object] | None = None
) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        load(folder, text, environ, overrides)
    assert "\n" not in str(caught.value)
    assert caught.value.hint
    return caught.value


def test_without_a_file_the_defaults_hold(tmp_path: Path) -> None:
    settings = load_settings(None, tmp_path / ".fonte", {})
    assert settings == Settings(file=None)
    assert settings.chunking.recipe() == ChunkingRecipe()
    assert settings.embedding.source == "package:multilingual-e5-small"
    assert settings.generation.name == "extractive"


def test_later_wins_defaults_file_environment_command_line(tmp_path: Path) -> None:
    text = "[retrieval]\nk = 3\ncandidates = 30\nper_document = 2"
    environ = {"FONTE_RETRIEVAL_CANDIDATES": "40", "FONTE_RETRIEVAL_PER_DOCUMENT": "5"}
    retrieval = load(tmp_path, text, environ, {"retrieval.per_document": 6}).retrieval
    assert (retrieval.mode, retrieval.k, retrieval.candidates, retrieval.per_document) == ("hybrid", 3, 40, 6)


def test_the_file_is_found_in_the_home_then_beside_it(tmp_path: Path) -> None:
    home = tmp_path / ".fonte"
    assert find_config(home) is None
    beside = tmp_path / "fonte.toml"
    beside.write_text("[retrieval]\nk = 3", encoding="utf-8")
    assert find_config(home) == beside
    home.mkdir()
    (home / "fonte.toml").write_text("[retrieval]\nk = 4", encoding="utf-8")
    assert find_config(home) == home / "fonte.toml"
    assert load_settings(None, home, {}).retrieval.k == 4


@pytest.mark.parametrize(
    ("text", "words", "hint"),
    [
        ("[chunking]\nsze = 3", "[chunking] sze is not a setting", "did you mean size?"),
        ("[chunkin]\nsize = 3", "[chunkin] is not a setting", "did you mean [chunking]?"),
        ("[wholly_other]\nx = 3", "[wholly_other] is not a setting", "known here"),
        ("[[sources]]\nmatch = '*'\nrole = ['a']", "[sources] role is not a setting", "did you mean roles?"),
        ("[chunking]\nsize = '3'", "[chunking] size: should be a valid integer, not '3'", "[chunking] size"),
        ("[chunking]\nsize = 0", "should be greater than or equal to 1, not 0", "[chunking] size"),
        ("[chunking]\nsize = 9\noverlap = 9", "0 <= overlap < size", "[chunking]"),
        ("[chunking]\nstrategy = 'tokens'\nunit = 'characters'", "counts tokens", "[chunking]"),
        ("[chunking]\nstrategy = 'topics'", "'semantic'", "[chunking] strategy"),
        ("[chunking]\npercentile = 90", 'a setting of strategy "semantic"', "[chunking]"),
        ("[chunking]\nparent_characters = 90", 'a setting of strategy "parent_child"', "[chunking]"),
        ("[retrieval]\nmode = 'bm52'", "'hybrid', 'bm25' or 'dense'", "mode"),
        ("[retrieval]\nmax_distance = nan", "finite", "max_distance"),
        ("[retrieval]\nmax_distance = 2.5", "less than or equal to 2", "max_distance"),
        ("[retrieval]\nk = 1979-05-27", "valid integer", "k"),
        ("[embedding]\nsource = 'e5'", '"package:NAME"', "source"),
        ("[embedding]\nbase_url = 'ftp://h'", "http:// or https://", "base_url"),
        ("[generation]\nname = 'openai'", "needs base_url and model", "[generation]"),
        ("[generation]\nname = 'anthropic'", "needs model", "[generation]"),
        ("[generation]\nname = 'gguf'", "needs model", "[generation]"),
        ("[generation]\nprompt_price = -1", "greater than or equal to 0", "prompt_price"),
        ("[generation]\nname = 'llm'", '"gguf" or "openai"', "name"),
        ("[[sources]]\nmatch = '*'\n[[sources]]\nmatch = 3", "[[sources]] 2 match", "match"),
        ("[[sources]]\nmatch = []", "at least one glob", "[[sources]] 1"),
        ("[[sources]]\nmatch = '*'\nroles = ['']", "may be empty", "[[sources]] 1"),
        ("[[sources]]\nmatch = '*'\nlanguage = 'italiano'", "language", "language"),
        ("[sources]\nmatch = '*'", "list of tables, [[sources]]", "reference"),
        ("[watch]\npoll = 'often'", "a time such as 30s, 15m", "[watch] poll"),
        ("[watch]\nlongest_wait = '99999999999d'", "less than or equal to 31622400", "[watch] longest_wait"),
        ("[watch]\nlease_seconds = 1e300", "less than or equal to 86400", "[watch] lease_seconds"),
        ("[watch]\nsettle_seconds = 1e-9", "greater than or equal to 0.05", "[watch] settle_seconds"),
        ("[watch]\npoll = '0s'", "greater than or equal to 1", "[watch] poll"),
        ("[[schedules]]\nevery = '1h'", "[[schedules]] 1 source", "[[schedules]] 1"),
        ("[[schedules]]\nsource = 'docs'\nevery = '* * * * *'", "a time such as 30s, 15m", "[[schedules]] 1"),
        ("chunking = 3", "should be a table, [chunking]", "reference"),
        ("[chunking\nsize = 3", "is not valid TOML", "line"),
    ],
)
def test_a_wrong_setting_is_one_line_with_file_and_key(tmp_path: Path, text: str, words: str, hint: str) -> None:
    error = refusal(tmp_path, text)
    assert str(tmp_path / "fonte.toml") in error.message
    assert words in error.message
    assert hint in error.hint


@pytest.mark.parametrize(
    "text",
    [
        "[store]\nuri = 's3://bucket'",
    ],
)
def test_what_a_later_version_knows_is_refused_as_not_built_yet(tmp_path: Path, text: str) -> None:
    assert "not built yet in this version" in refusal(tmp_path, text).message


def test_a_local_model_is_found_from_where_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    for name, model in (("gguf", str(tmp_path / "m.gguf")), ("anthropic", "m.gguf")):
        assert load(tmp_path, f"[generation]\nname = '{name}'\nmodel = 'm.gguf'").generation.model == model
    environ = {"FONTE_GENERATION_NAME": "gguf", "FONTE_GENERATION_MODEL": "/m.gguf"}
    assert load(tmp_path, "", environ).generation.model == "/m.gguf"


def test_a_golden_set_is_found_from_where_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    golden = load(tmp_path, "[golden]\npath = 'sets/g.yaml'\nfloors = '/kept/floors.json'").golden
    assert (golden.path, golden.floors) == (str(tmp_path / "sets" / "g.yaml"), "/kept/floors.json")
    assert load(tmp_path, "", {"FONTE_GOLDEN_PATH": "g.yaml"}).golden.path == str(tmp_path / "elsewhere" / "g.yaml")
    assert load(tmp_path, "").golden.path is None
    assert "path should name it" in refusal(tmp_path, "[golden]\nfloors = 'floors.json'").message
    assert "[golden] path" in refusal(tmp_path, "[golden]\npath = ''").message


@pytest.mark.parametrize("key", ["api_key", "token", "client_secret", "password", "apikey"])
def test_a_secret_in_the_file_is_refused_and_not_repeated(tmp_path: Path, key: str) -> None:
    error = refusal(tmp_path, f"[generation]\n{key} = 'hunter2'")
    assert "looks like a secret" in error.message
    assert "environment" in error.hint
    assert "hunter2" not in error.message + error.hint


def test_a_password_in_an_address_is_refused_and_not_repeated(tmp_path: Path) -> None:
    error = refusal(tmp_path, "[generation]\nbase_url = 'https://me:hunter2@host/v1'")
    assert "secrets come from the environment" in error.message
    assert "hunter2" not in error.message + error.hint


@pytest.mark.parametrize("name", ["FONTE_GENERATION_API_KEY", "FONTE_EMBEDDING_API_KEY_FILE", "FONTE_HOME", "OTHER"])
def test_secrets_and_other_variables_are_no_settings(tmp_path: Path, name: str) -> None:
    assert load(tmp_path, "", {name: "x"}) == load(tmp_path, "")


def test_every_key_has_a_variable_and_each_of_them_is_read(tmp_path: Path) -> None:
    samples = {
        ("chunking", "strategy"): "blind",
        ("chunking", "unit"): "characters",
        ("embedding", "source"): "hf:a/b@c",
        ("embedding", "base_url"): "http://h/v1",
        ("embedding", "token_codes"): "false",
        ("query", "history"): "model",
        ("query", "aliases"): "PTO = paid time off, leave",
        ("query", "variants"): "true",
        ("query", "filters"): "only",
        ("query", "parts"): "false",
        ("audit", "questions"): "false",
        ("serve", "public_url"): "https://fonte.example",
        ("serve", "logs"): "json",
        ("serve", "open_metrics"): "true",
        ("oidc", "issuer"): "https://id.example",
        ("oidc", "audience"): "fonte",
        ("oidc", "jwks_url"): "https://id.example/keys",
        ("serve", "hosts"): "docs.example.com",
        ("reranker", "source"): "http:m",
        ("reranker", "base_url"): "http://h/v1",
        ("reranker", "form"): "tei",
        ("reranker", "window"): "77",
        ("reranker", "required"): "true",
        ("retrieval", "mode"): "dense",
        ("retrieval", "fusion"): "minmax",
        ("retrieval", "dense_weight"): "0.7",
        ("retrieval", "rerank"): "false",
        ("retrieval", "exact_chunks"): "100",
        ("retrieval", "resident_mb"): "0",
        ("retrieval", "near_copies"): "once",
        ("retrieval", "max_distance"): "0.5",
        ("chunking", "header"): "true",
        ("chunking", "strip_bibliography"): "true",
        ("generation", "name"): "extractive",
        ("generation", "base_url"): "http://h/v1",
        ("generation", "context_tokens"): "777",
        ("parsing", "memory_mb"): "512",
        ("parsing", "ocr_languages"): "deu+ita",
        ("support", "policy"): "drop",
        ("support", "entailment"): "http:nli",
        ("support", "base_url"): "http://h/v1",
        ("web", "addresses"): "10.0.0.7/32",
        ("store", "database_url"): "postgresql://h/d",
    }
    assert {section for section, _ in variables().values()} == set(SECTIONS)
    served = {f"FONTE_RERANKER_{key.upper()}": samples["reranker", key] for key in ("source", "base_url", "form")}
    for name, (section, key) in variables().items():
        if (section, key) == ("store", "uri"):
            assert "not built yet" in refusal(tmp_path, "", {name: "7"}).message
            continue
        value = samples.get((section, key), "7")
        others = {
            "FONTE_OIDC_CLIENT_ID": {"FONTE_OIDC_ISSUER": "https://id.example", "FONTE_OIDC_AUDIENCE": "fonte"},
            "FONTE_OIDC_ISSUER": {"FONTE_OIDC_AUDIENCE": "fonte"},
            "FONTE_OIDC_AUDIENCE": {"FONTE_OIDC_ISSUER": "https://id.example"},
            "FONTE_GOLDEN_FLOORS": {"FONTE_GOLDEN_PATH": "g.yaml"},
            "FONTE_CHUNKING_PERCENTILE": {"FONTE_CHUNKING_STRATEGY": "semantic"},
            "FONTE_CHUNKING_PARENT_CHARACTERS": {"FONTE_CHUNKING_STRATEGY": "parent_child"},
            **dict.fromkeys((*served, "FONTE_RERANKER_WINDOW"), served),
            "FONTE_SUPPORT_ENTAILMENT": {"FONTE_SUPPORT_BASE_URL": "http://h/v1"},
            "FONTE_SUPPORT_BASE_URL": {"FONTE_SUPPORT_ENTAILMENT": "http:nli"},
        }.get(name, {})
        part = getattr(load(tmp_path, "", {**others, name: value}), section)
        read = getattr(part, key)
        if key == "aliases":
            assert read == {"PTO": ("paid time off", "leave")}
            continue
        shown = ",".join(read) if isinstance(read, tuple) else str(read)
        assert shown.lower().removesuffix(".0").endswith(value), name


@pytest.mark.parametrize("url", ["postgresql://u:hidden@h/d", "postgresql://u@h/d?password=hidden"])
def test_a_database_s_password_comes_from_the_environment_alone(tmp_path: Path, url: str) -> None:
    error = refusal(tmp_path, f"[store]\ndatabase_url = '{url}'")
    assert "FONTE_DATABASE_PASSWORD" in error.hint
    assert "hidden" not in f"{error.message} {error.hint}"
    settings = load(tmp_path, "[store]\ndatabase_url = 'postgresql://u@h:5432/d'", {"FONTE_DATABASE_URL": url})
    assert settings.store.database_url == url
    assert "hidden" not in repr(settings)
    wrong = refusal(tmp_path, "", {"FONTE_DATABASE_URL": url.replace("postgresql", "mysql")})
    assert "hidden" not in f"{wrong.message} {wrong.hint}"


def test_an_empty_variable_unsets_what_may_be_unset(tmp_path: Path) -> None:
    text = "[retrieval]\nmax_distance = 0.5"
    assert load(tmp_path, text, {"FONTE_RETRIEVAL_MAX_DISTANCE": ""}).retrieval.max_distance is None


@pytest.mark.parametrize(
    ("environ", "words", "hint"),
    [
        ({"FONTE_CHUNKING_SZE": "3"}, "FONTE_CHUNKING_SZE is not a setting", "FONTE_CHUNKING_SIZE"),
        ({"FONTE_CHUNKNG_SIZE": "3"}, "FONTE_CHUNKNG_SIZE is not a setting", "FONTE_CHUNKING_SIZE"),
        ({"FONTE_CHUNKING_SIZE": "many"}, "FONTE_CHUNKING_SIZE: should be a valid integer", "variable"),
        ({"FONTE_CHUNKING_SIZE": "0"}, "FONTE_CHUNKING_SIZE", "variable"),
        ({"FONTE_RETRIEVAL_RERANK": "perhaps"}, "FONTE_RETRIEVAL_RERANK", "variable"),
        ({"FONTE_CHUNKING_OVERLAP": "900"}, "FONTE_CHUNKING_OVERLAP", "[chunking]"),
        ({"FONTE_DATABASE_URL": "mysql://h/d"}, "FONTE_DATABASE_URL", "variable"),
    ],
)
def test_a_wrong_variable_is_named(tmp_path: Path, environ: dict[str, str], words: str, hint: str) -> None:
    error = refusal(tmp_path, "", environ)
    assert words in error.message
    assert hint in error.hint


def test_an_unknown_override_is_refused(tmp_path: Path) -> None:
    assert "command line: retrieval.kk" in refusal(tmp_path, "", None, {"retrieval.kk": 3}).message
    assert "command line" in refusal(tmp_path, "", None, {"retrieval.k": 0}).message


@pytest.mark.parametrize(
    ("body", "words"), [(b"x = '\xff'", "is not UTF-8"), (None, "cannot be read: No such file or directory")]
)
def test_an_unreadable_file_is_said(tmp_path: Path, body: bytes | None, words: str) -> None:
    path = tmp_path / "mine.toml"
    if body is not None:
        path.write_bytes(body)
    with pytest.raises(ConfigError) as caught:
        load_settings(path, tmp_path, {})
    assert words in caught.value.message
    assert str(path) in caught.value.message


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_a_file_without_read_permission_is_said(tmp_path: Path) -> None:
    path = tmp_path / "fonte.toml"
    path.write_text("", encoding="utf-8")
    path.chmod(0)
    with pytest.raises(ConfigError, match="cannot be read"):
        load_settings(path, tmp_path, {})


def test_a_byte_order_mark_is_accepted(tmp_path: Path) -> None:
    (tmp_path / "fonte.toml").write_bytes(b"\xef\xbb\xbf[retrieval]\nk = 3\n")
    assert load_settings(tmp_path / "fonte.toml", tmp_path, {}).retrieval.k == 3


@pytest.mark.parametrize(
    ("text", "recipe"),
    [
        ("", ChunkingRecipe("boundaries", 256, 0, header=True, unit="tokens")),
        ("strategy = 'blind'", ChunkingRecipe("blind", 512, 0, header=False, unit="characters")),
        ("strategy = 'blind'\noverlap = 64", ChunkingRecipe("blind", 512, 64, header=False, unit="characters")),
        ("strategy = 'blind'\nunit = 'tokens'", ChunkingRecipe("tokens", 256, 0, header=False, unit="tokens")),
        ("strategy = 'tokens'\nsize = 128", ChunkingRecipe("tokens", 128, 0, header=False, unit="tokens")),
        ("unit = 'characters'", ChunkingRecipe("boundaries", 512, 0, header=True, unit="characters")),
        (
            "unit = 'characters'\nheader = false\noverlap = 64",
            ChunkingRecipe("boundaries", 512, 64, header=False, unit="characters"),
        ),
        ("strategy = 'recursive'", ChunkingRecipe("recursive")),
        ("strategy = 'document'\nsize = 100", ChunkingRecipe("document", 100)),
        ("strategy = 'semantic'", ChunkingRecipe("semantic", percentile=80)),
        ("strategy = 'semantic'\npercentile = 95", ChunkingRecipe("semantic", percentile=95)),
        ("strategy = 'parent_child'", ChunkingRecipe("parent_child", 128, parent_characters=2000)),
        (
            "strategy = 'parent_child'\nunit = 'characters'\nparent_characters = 900",
            ChunkingRecipe("parent_child", 256, unit="characters", parent_characters=900),
        ),
    ],
)
def test_the_strategies_are_settings(tmp_path: Path, text: str, recipe: ChunkingRecipe) -> None:
    assert load(tmp_path, f"[chunking]\n{text}").chunking.recipe() == recipe


def test_rules_keep_their_order_and_no_roles_differs_from_roles_not_named(tmp_path: Path) -> None:
    text = "[[sources]]\nmatch = '*.md'\n[[sources]]\nmatch = ['a/**', 'b/**']\nroles = []\nlanguage = 'it'"
    first, second = load(tmp_path, text).sources
    assert (first.match, first.roles) == (("*.md",), None)
    assert (second.match, second.roles, second.language) == (("a/**", "b/**"), (), "it")


def test_relative_paths_are_relative_to_the_file_or_to_where_a_variable_is_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(tmp_path)
    text = "[embedding]\nsource = 'path:models/x'"
    assert load(folder, text).embedding.source == f"path:{folder / 'models' / 'x'}"
    environ = {"FONTE_EMBEDDING_SOURCE": "path:models/y"}
    assert load(folder, text, environ).embedding.source == f"path:{tmp_path / 'models' / 'y'}"


def test_times_are_seconds_or_words_and_schedules_name_sources_as_they_were_synced(tmp_path: Path) -> None:
    text = "[watch]\npoll = 90\nlook_again = '1.5h'\n" + "".join(
        f"[[schedules]]\nsource = '{source}'\n{every}\n"
        for source, every in (("docs", ""), ("s3://b/docs/", "every = '15m'"), ("/srv/x/../y", "every = '1d'"))
    )
    settings = load(tmp_path, text, {"FONTE_WATCH_LONGEST_WAIT": "2m"})
    assert (settings.watch.poll, settings.watch.look_again, settings.watch.longest_wait) == (90, 5400, 120)
    assert [(one.source, one.every, one.tenant) for one in settings.schedules] == [
        (str(tmp_path / "docs"), None, "default"),
        ("s3://b/docs/", 900, "default"),
        ("/srv/y", 86400, "default"),
    ]


def test_settings_are_frozen() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Settings().retrieval.k = 3  # type: ignore[misc]  # that it is refused is what is tested


@given(st.text(max_size=80), st.dictionaries(st.sampled_from(sorted(variables())), st.text(max_size=12), max_size=3))
def test_any_text_and_any_variables_give_settings_or_a_config_error(
    tmp_path_factory: pytest.TempPathFactory, text: str, environ: dict[str, str]
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.toml"
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    try:
        settings = load_settings(path, path.parent, environ)
    except ConfigError:
        return
    assert settings.chunking.recipe().size >= 1
