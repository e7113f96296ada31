"use strict";
// Shows the events that are asked for, and opens the task that a link leads to. Fetches nothing.
const kind = document.getElementById("kind");
const words = document.getElementById("words");
const rows = [...document.getElementById("rows").rows];
const texts = rows.map((row) => row.textContent.toLowerCase());

function filter() {
  const wanted = words.value.toLowerCase();
  let left = 0;
  rows.forEach((row, at) => {
    const ofKind = !kind.value || row.cells[2].textContent === kind.value;
    row.hidden = !(ofKind && texts[at].includes(wanted));
    left += !row.hidden;
  });
  document.getElementById("count").textContent = `${left} of ${rows.length} events`;
}

function open() {
  let place = document.getElementById(location.hash.slice(1));
  const target = place;
  for (; place; place = place.parentElement) if (place.tagName === "DETAILS") place.open = true;
  if (target) target.scrollIntoView();
}

kind.addEventListener("change", filter);
words.addEventListener("input", filter);
window.addEventListener("hashchange", open);
open();
