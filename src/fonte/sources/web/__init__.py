"""Pages of the web: fetched only from hosts that were listed, at addresses that were checked."""
