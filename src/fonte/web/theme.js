// Before anything is drawn: the colors that were chosen here, if any were.
(() => {
  try {
    const chosen = localStorage.getItem("fonte-theme");
    if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
  } catch { /* storage may be forbidden: then the system's colors hold */ }
})();
