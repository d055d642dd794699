// The leaderboard: who is how often right, and what the rest of the time was lost to.

const hasCost = sdb.recordings.some((rec) => rec.cost && rec.cost.amount !== null);
const atNow = () => `at ${sdb.short(sdb.state.interval)} s`;
const overBounds = `over ${sdb.short(sdb.low)}–${sdb.short(sdb.high)} s`;
const basisNow = () => (sdb.state.basis === 'at' ? atNow() : overBounds);
const currency = sdb.recordings.find((rec) => rec.cost)?.cost.currency ?? '';

const hasPrice = sdb.recordings.some((rec) => rec.price);

const COLUMNS = [
  { key: 'name', label: 'Recording', text: true, first: 'ascending', value: (rec) => rec.name.toLowerCase() },
  ...(sdb.data.alone ? [] : [{ key: 'auc', label: sdb.data.weighting === 'log' ? 'log-AUC' : 'AUC', hint: `in-force accuracy integrated over ${sdb.short(sdb.low)}–${sdb.short(sdb.high)} s, ${sdb.data.weighting} weighting, %`, of: () => overBounds, value: (rec) => rec.overall.auc }]),
  { key: 'inForce', label: 'in force', of: atNow, hint: 'in-force accuracy A at the interval, %', value: (rec) => sdb.now(rec).overall.inForce },
  { key: 'untimed', label: 'untimed', of: () => 'no latency', hint: 'accuracy if latency were zero, %', value: (rec) => rec.overall.untimed ?? -1 },
  { key: 'oracle', label: 'oracle', of: basisNow, hint: 'in-force accuracy of perfect answers at these latencies, %', value: (rec) => sdb.shownLevel(rec).oracle },
  { key: 'uCurrent', label: 'U_cur', of: basisNow, hint: 'accuracy while the source is current, %', value: (rec) => sdb.shownLevel(rec).uCurrent ?? -1 },
  { key: 'bar', label: 'where the time goes', of: basisNow, text: true, hint: 'six classes of time; sorts by time lost', value: (rec) => sdb.shownLevel(rec).inForce },
  { key: 'p50', label: 'p50 s', first: 'ascending', hint: 'median latency, seconds', value: (rec) => rec.latency?.p50 ?? Infinity },
  { key: 'p95', label: 'p95 s', first: 'ascending', hint: '95th percentile of latency, seconds', value: (rec) => rec.latency?.p95 ?? Infinity },
  ...(hasCost ? [{ key: 'cost', label: `${currency}/hour`, of: atNow, first: 'ascending', hint: 'list price of an hour of stream at the interval; a pair asks both components at every step', value: (rec) => sdb.perHour(rec) ?? Infinity }] : []),
  ...(hasPrice ? [{ key: 'price', label: 'errors', of: () => `cost at ${sdb.short(sdb.data.interval)} s`, first: 'ascending', hint: 'what being wrong costs at this interval, in seconds of an ordinary wrong decision per second', value: (rec) => rec.price?.total ?? Infinity }] : []),
];

sdb.amount = (value) => sdb.fixed(value, value >= 1 ? 2 : 3);

sdb.leaderboard = () => {
  const sort = { key: sdb.data.alone ? 'inForce' : 'auc', direction: 'descending' };
  const total = sdb.data.suite.scenarios;
  const heads = new Map();
  const order = h('tr', {}, h('th', { scope: 'col', class: 'show' }, h('span', { class: 'sr' }, 'Shown in charts')), h('th', { scope: 'col', class: 'place' }, '#'));
  for (const column of COLUMNS) {
    const label = h('span', {});
    const of = h('span', { class: 'of' });
    const button = h('button', { type: 'button', title: column.hint, onclick: () => pick(column) }, label, h('span', { class: 'arrow', 'aria-hidden': 'true' }), of);
    const th = h('th', { scope: 'col', class: `c-${column.key}${column.text ? ' text' : ''}` }, button);
    heads.set(column.key, { th, label, of });
    order.append(th);
  }
  const body = h('tbody', {});
  const rows = [...sdb.ranked, ...sdb.pairs].map((rec) => row(rec, total));

  const pick = (column) => {
    const other = { ascending: 'descending', descending: 'ascending' };
    sort.direction = sort.key === column.key ? other[sort.direction] : column.first || 'descending';
    sort.key = column.key;
    arrange();
  };
  const arrange = () => {
    const column = COLUMNS.find((c) => c.key === sort.key);
    const sign = sort.direction === 'ascending' ? 1 : -1;
    const listed = sdb.board();
    const keyed = rows.filter((r) => listed.includes(r.rec)).map((r) => [column.value(r.rec), r]);
    keyed.sort(([a, r], [b, q]) => (a < b ? -sign : a > b ? sign : listed.indexOf(r.rec) - listed.indexOf(q.rec)));
    rows.filter((r) => !listed.includes(r.rec)).forEach((r) => r.tr.remove());
    keyed.forEach(([, r], i) => {
      r.place.textContent = String(i + 1);
      if (body.children[i] !== r.tr) body.insertBefore(r.tr, body.children[i] || null);
    });
    heads.forEach(({ th, label, of }, key) => {
      const c = COLUMNS.find((one) => one.key === key);
      label.replaceChildren(...sdb.maths(c.label));
      of.textContent = c.of ? c.of() : '\u00a0';
      th.setAttribute('aria-sort', key === sort.key ? sort.direction : 'none');
    });
  };

  const basis = h('div', { class: 'switch', role: 'group', 'aria-label': 'Oracle, U_cur and time bars' },
    h('button', { type: 'button', 'data-basis': 'at', onclick: () => sdb.set({ basis: 'at' }) }),
    h('button', { type: 'button', 'data-basis': 'integrated', onclick: () => sdb.set({ basis: 'integrated' }) }, overBounds));
  sdb.section('leaderboard', 'Leaderboard',
    `${sdb.data.alone ? 'Best' : 'Best integrated score'} first; press a heading to sort by it. Below each heading stands what it covers. The check boxes choose what the charts below show.${sdb.pairs.length ? ' Pairs that are recommended at some interval stand here too; others can be added under Pairs.' : ''}`,
    h('div', { class: 'bar-tools' }, sdb.classKey(), !sdb.data.alone && h('div', { class: 'basis' }, h('span', { class: 'muted' }, sdb.maths('oracle, U_cur and bars')), basis)),
    h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Leaderboard' },
      h('table', { class: 'board' }, h('caption', { class: 'sr' }, 'Recordings by in-force accuracy, in percent'), h('thead', {}, order), body)),
    h('p', { class: 'muted small below' }, 'Shares are percentages of observed time, mean over families of the mean over scenarios.',
      hasPrice && ` ${(sdb.data.costWords || []).join(' ')}`,
      sdb.recordings.some((rec) => rec.range) && ` Ranges in brackets: ${sdb.data.rangesMethod || 'as given with the scores'}.`),
    sdb.dataTable('Classes of time in numbers', ['interval', 'basis', 'board'], classTable),
    sdb.dataTable('By family', ['interval', 'board'], familyTable));

  sdb.follow(['interval', 'basis', 'shown', 'board'], () => {
    const listed = sdb.board();
    rows.filter((r) => listed.includes(r.rec)).forEach((r) => r.update());
    basis.children[0].textContent = atNow();
    [...basis.children].forEach((b) => b.setAttribute('aria-pressed', String(b.dataset.basis === sdb.state.basis)));
    arrange();
  });
};

const row = (rec, total) => {
  const place = h('td', { class: 'place' });
  const box = h('input', { type: 'checkbox', 'aria-label': `Show ${rec.name} in charts`, onchange: () => sdb.toggleShown(rec.index) });
  const { bar, update: draw } = sdb.classBar();
  const cell = (key) => h('td', { class: `c-${key}`, 'data-cell': key });
  const cells = { inForce: cell('inForce'), oracle: cell('oracle'), uCurrent: cell('uCurrent') };
  const count = (rec.pair ? rec.members[0] : rec).lines.length;
  const part = count < total && h('span', { class: 'badge part', title: 'Scenarios in this recording' }, `${count}/${total} scenarios`);
  const pick = h('span', { class: 'badge pick', title: 'Recommended at the interval', hidden: true }, 'recommended');
  const cost = hasCost && h('td', { 'data-cell': 'cost' });
  const range = rec.range && h('span', { class: 'range' }, `[${sdb.percent(rec.range[0])}, ${sdb.percent(rec.range[1])}]`);
  const tr = h('tr', { 'data-recording': rec.name },
    h('td', { class: 'show' }, box), place,
    h('th', { scope: 'row', class: 'c-name text' }, h('div', { class: 'who' }, sdb.swatch(rec), h('span', {}, h('bdi', {}, rec.name), rec.pair && h('span', { class: 'badge part' }, 'pair'), sdb.badges(rec), part, pick))),
    !sdb.data.alone && h('td', { class: 'c-auc strong', 'data-cell': 'auc' }, sdb.percent(rec.overall.auc), range),
    cells.inForce,
    h('td', { 'data-cell': 'untimed' }, sdb.percent(rec.overall.untimed)),
    cells.oracle, cells.uCurrent,
    h('td', { class: 'c-bar' }, bar),
    h('td', { 'data-cell': 'p50' }, sdb.fixed(rec.latency?.p50, 2)),
    h('td', { 'data-cell': 'p95' }, sdb.fixed(rec.latency?.p95, 2)),
    cost, hasPrice && h('td', { 'data-cell': 'price' }, sdb.fixed(rec.price?.total, 3)));
  const update = () => {
    const level = sdb.shownLevel(rec);
    cells.inForce.replaceChildren(sdb.percent(sdb.now(rec).overall.inForce), ...(sdb.data.alone && range ? [range] : []));
    cells.oracle.textContent = sdb.percent(level.oracle);
    cells.uCurrent.textContent = sdb.percent(level.uCurrent);
    draw(level.classes);
    pick.hidden = sdb.answerAt(sdb.state.interval)?.plain !== rec.name;
    if (cost) cost.textContent = sdb.amount(sdb.perHour(rec));
    box.checked = sdb.state.shown.has(rec.index);
  };
  return { rec, tr, place, update };
};

const classTable = () => {
  const level = (rec) => sdb.shownLevel(rec);
  const columns = [{ label: 'Recording', text: true }, ...sdb.data.classes.map((k) => ({ label: k.label })), { label: 'in force' }, { label: 'segment-balanced' }, { label: 'U·O' }];
  const basis = sdb.state.basis === 'at' ? `at ${sdb.short(sdb.state.interval)} s` : `integrated over ${sdb.short(sdb.low)}–${sdb.short(sdb.high)} s`;
  return sdb.table(`Shares of time by class ${basis}, %`, columns, sdb.board().map((rec) => [
    rec.name + sdb.mark(rec),
    ...sdb.data.classes.map((k) => sdb.percent(level(rec).classes[k.column])),
    sdb.percent(level(rec).inForce), sdb.percent(level(rec).segment), sdb.percent(level(rec).product),
  ]));
};

const familyTable = () => {
  const columns = [{ label: 'Recording', text: true }];
  const over = sdb.data.alone ? [] : ['AUC'];
  sdb.data.families.forEach((f) => columns.push(...over.map((what) => ({ label: `${f.name}: ${what}` })), { label: `${over.length ? '' : `${f.name} `}at ${sdb.short(sdb.state.interval)} s` }));
  return sdb.table('In-force accuracy by family, %', columns, sdb.board().map((rec) => [
    rec.name + sdb.mark(rec),
    ...sdb.data.families.flatMap((f, i) => [
      ...over.map(() => sdb.percent(rec.familyLevels[f.id]?.auc)), sdb.percent(sdb.now(rec).families.get(i)?.inForce),
    ]),
  ]));
};
