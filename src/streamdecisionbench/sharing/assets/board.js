// Sorts a table by a column: numbers from large to small first, texts from A to Z.
for (const table of document.querySelectorAll('table.board')) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => head.querySelector('button').addEventListener('click', () => {
    const numeric = head.classList.contains('num');
    const before = head.getAttribute('aria-sort');
    const rising = before ? before === 'descending' : !numeric || column === 0;
    const sign = rising ? 1 : -1;
    const key = (row) => row.cells[column].dataset.v;
    const rows = [...table.tBodies[0].rows].map((row, place) => ({ row, place }));
    rows.sort((a, b) => {
      const x = key(a.row), y = key(b.row);
      const order = numeric ? Number(x) - Number(y) : x.localeCompare(y);
      return sign * order || a.place - b.place;
    });
    for (const other of heads) other.removeAttribute('aria-sort');
    head.setAttribute('aria-sort', rising ? 'ascending' : 'descending');
    table.tBodies[0].append(...rows.map((item) => item.row));
  }));
}
