// SPDX-License-Identifier: MIT
// Filters, sorting and the tests of a requirement. Without it the page still shows everything but
// the tests that passed or were skipped. All text from a log is set as text, never as HTML.
"use strict";
(() => {
  document.documentElement.classList.add("js");
  const matrix = document.getElementById("matrix");
  const source = document.getElementById("data");
  if (!matrix || !source) return;
  const data = JSON.parse(source.textContent);
  const body = matrix.tBodies[0];
  const rows = [...body.rows];
  const filters = document.getElementById("filters");
  const shown = document.getElementById("shown");
  const severity = ["FAIL", "ERROR", "KNOWN", "INCONCLUSIVE", "PASS", "SKIP", "none"];

  const verdictsOf = (row) => [...row.querySelectorAll("[data-run]")].map((cell) => cell.className);
  const facts = rows.map((row, index) => ({
    row, index, text: row.querySelector(".first").textContent.toLowerCase(),
    group: row.dataset.group, cpus: row.dataset.cpus.split(" "), here: row.dataset.here === "1",
    where: row.dataset.where.split(" "), verdicts: verdictsOf(row),
    number: row.querySelector("button").textContent,
  }));

  const filter = () => {
    const text = filters.elements.text.value.trim().toLowerCase();
    const verdict = filters.elements.verdict.value;
    const group = filters.elements.group.value;
    const cpu = filters.elements.cpu.value;
    const where = filters.elements.where.value;
    const here = filters.elements.here.checked;
    let count = 0;
    for (const one of facts) {
      const different = new Set(one.verdicts).size > 1;
      const good = (!text || one.text.includes(text)) &&
        (!verdict || (verdict === "differs" ? different : one.verdicts.includes(verdict))) &&
        (!group || one.group === group) && (!cpu || one.cpus.includes(cpu)) &&
        (!where || one.where.includes(where)) && (!here || one.here);
      one.row.hidden = !good;
      count += good;
    }
    shown.textContent = `${count} of ${facts.length} requirements`;
  };
  filters.addEventListener("input", filter);
  filters.addEventListener("submit", (event) => event.preventDefault());
  filters.addEventListener("reset", () => setTimeout(filter, 0));

  const worst = (one) => Math.min(...one.verdicts.map((name) => severity.indexOf(name)));
  const keys = {
    number: (one) => one.index,
    severity: worst,
    where: (one) => -one.where.length,
  };
  matrix.tHead.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    const run = button.dataset.column;
    const key = run === undefined ? keys[button.dataset.sort] :
      (one) => severity.indexOf(one.verdicts[run]);
    const order = button.dataset.order === "down" ? "up" : "down";
    for (const other of matrix.tHead.querySelectorAll("button")) {
      delete other.dataset.order;
      other.closest("th").removeAttribute("aria-sort");
    }
    button.dataset.order = order;
    button.closest("th").setAttribute("aria-sort", order === "down" ? "ascending" : "descending");
    const sign = order === "down" ? 1 : -1;
    facts.sort((a, b) => sign * (key(a) - key(b)) || a.index - b.index);
    body.append(...facts.map((one) => one.row));
  });

  // The tests of one requirement, in each run.
  const dialog = document.getElementById("tests");
  const content = document.getElementById("tests-content");
  const add = (parent, tag, text, name) => {
    const made = document.createElement(tag);
    if (text) made.textContent = text;
    if (name) made.className = name;
    parent.append(made);
    return made;
  };
  const show = (row, chosen) => {
    const id = row.querySelector("button").textContent;
    const number = data.requirements.indexOf(id);
    content.replaceChildren();
    add(content, "h3", id);
    add(content, "p", row.querySelector(".text")?.textContent, "sentence");
    add(content, "p", row.dataset.source, "soft");
    let target = null;
    data.runs.forEach((run, index) => {
      const points = run.points.filter((point) => point[3].includes(number));
      if (!points.length) return;
      const title = add(content, "h4", run.name);
      if (index === chosen) {
        title.className = "chosen";
        target = title;
      }
      const list = add(content, "ul");
      for (const [test, verdict, reason] of points) {
        const item = add(list, "li");
        add(item, "span", data.verdicts[verdict], `badge ${data.verdicts[verdict]}`);
        item.append(" ");
        add(item, "code", data.tests[test]);
        if (data.reasons[reason]) {
          item.append(" ");
          add(item, "span", data.reasons[reason], "soft");
        }
      }
    });
    const failure = document.getElementById(`fail-${id}`);
    if (failure) {
      const link = add(add(content, "p"), "a", "What failed, in detail");
      link.href = `#fail-${id}`;
      link.addEventListener("click", () => dialog.close());
    }
    dialog.showModal();
    dialog.scrollTop = 0;
    if (target) target.scrollIntoView({ block: "nearest" });
  };
  body.addEventListener("click", (event) => {
    const row = event.target.closest("tr");
    const cell = event.target.closest("td[data-run]");
    if (cell) show(row, Number(cell.dataset.run));
    else if (event.target.closest("button")) show(row, -1);
  });
  filter();
})();
