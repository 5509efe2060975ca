document$.subscribe(() => {
  // Those who move from landmark to landmark hear a different name for each.
  [...document.querySelectorAll("nav nav, nav.md-code__nav")].forEach((nav, at) => {
    const label = document.getElementById(nav.getAttribute("aria-labelledby") || "");
    nav.setAttribute("aria-label", `${label ? label.textContent.trim() : "Code"}, part ${at + 1}`);
    nav.removeAttribute("aria-labelledby");
  });
  // What scrolls can be scrolled with keys.
  for (const wide of document.querySelectorAll(".md-typeset__scrollwrap")) wide.tabIndex = 0;
  for (const table of document.querySelectorAll("article table")) addFilter(table);
});

// A box above a long table that hides the rows without the typed words.
function addFilter(table) {
  const rows = [...table.querySelectorAll("tbody tr")];
  if (rows.length < 40) return;
  const box = document.createElement("input");
  box.type = "search";
  box.className = "table-filter";
  box.placeholder = `Filter ${rows.length} rows`;
  box.setAttribute("aria-label", `Filter the ${rows.length} rows of the table below`);
  box.addEventListener("input", () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
  });
  (table.closest(".md-typeset__scrollwrap") || table).before(box);
}
