// The page of a log: groups, days, what was mixed up, and streams as lanes. Every number is the score's.

const { groups, words } = sdb.data;
const items = groups.map((group, place) => ({ ...group, place }));
const wordOf = (k) => (k < 0 ? null : words[k]);
const named = (text) => (text === null ? 'no decision' : text);

/* A decision in a block: of an object its values alone. */
const brief = (text) => {
  if (!text.startsWith('{')) return text;
  try { return Object.values(JSON.parse(text)).map((v) => (typeof v === 'string' ? v : JSON.stringify(v))).join(' · '); } catch { return text; }
};
const tableOf = (table) => [sdb.table(table.title, table.columns, table.rows), table.notes.map((note) => h('p', { class: 'muted small' }, note))];

// Groups

const MOST_ROWS = 12;
const drawGroups = () => {
  const several = groups.length > 1;
  const rows = items.slice(0, MOST_ROWS).map((group) => sdb.scoreRow(group, group.inForce,
    group.interval && `95 %: ${sdb.percent(group.interval[0])}–${sdb.percent(group.interval[1])}`, group.classes, [
      group.lost,
      `${sdb.plural(group.streams, 'stream')}${group.judgedStreams < group.streams ? `, ${sdb.count(group.judgedStreams)} judged` : ''}`, sdb.plural(group.states, 'state'), `${sdb.fixed(group.seconds, 0)} s`,
      group.judged < 1 - 1e-12 && `${sdb.percent(group.judged)} % judged`, group.untimed !== null && `untimed${group.cascade ? ' (first answer)' : ''} ${sdb.percent(group.untimed)} %`,
      group.p50 != null && `latency${group.cascade ? ' (first answer)' : ''} p50 ${sdb.seconds(group.p50)} s, p95 ${sdb.seconds(group.p95)} s`,
      ...group.members.map((member) => `${member.name} p50 ${sdb.seconds(member.p50)} s, p95 ${sdb.seconds(member.p95)} s`)]));
  const details = sdb.dataTable('These figures as tables', [], () => h('div', {}, sdb.data.tables.map((table) => [h('h3', {}, table.title), tableOf(table)])));
  sdb.section('score', several ? `By ${sdb.data.by}` : 'Score', `${sdb.data.what}. Every observed second counts equally; the bars show where the ${groups.every((group) => group.judged > 1 - 1e-12) ? '' : 'judged '}time went.`,
    sdb.data.differences.map((line) => h('p', { class: 'verdict' }, line)),
    sdb.data.notes.length > 0 && h('ul', { class: 'remarks' }, sdb.data.notes.map((note) => h('li', {}, note))),
    sdb.classKey(), h('div', { class: 'score-rows' }, rows),
    groups.length > MOST_ROWS && h('p', { class: 'summary' }, `And ${groups.length - MOST_ROWS} more groups in the tables.`), details);
};

// Day by day

const MOST_LINES = sdb.data.dashes.length;
const drawDays = () => {
  const { days } = sdb.data;
  const all = [...new Set(days.map((day) => day.day))].sort();
  if (all.length < 2) return;
  const at = new Map(all.map((day) => [day, Date.parse(`${day}T00:00:00Z`) / 864e5]));
  const dated = all.every((day) => Number.isFinite(at.get(day)));
  if (!dated) all.forEach((day, k) => at.set(day, k));
  const lines = items.filter((item) => days.some((day) => day.group === item.place)).sort((a, b) => b.seconds - a.seconds).slice(0, MOST_LINES);
  const series = lines.map((item) => ({
    item,
    points: days.filter((day) => day.group === item.place && day.inForce !== null).map((day) => ({
      x: at.get(day.day), y: day.inForce, range: day.interval,
      said: `${day.day}: ${groups.length > 1 ? `${item.name} ` : ''}${sdb.percent(day.inForce)} %${day.interval ? ` (${sdb.percent(day.interval[0])} to ${sdb.percent(day.interval[1])})` : ''}, ${sdb.plural(day.streams, 'stream')}`,
    })).sort((a, b) => a.x - b.x),
  }));
  const host = h('div', { class: 'chart' });
  const left = days.length && lines.length < new Set(days.map((day) => day.group)).size;
  sdb.section('days', 'Day by day', `In-force accuracy of the streams that began on each day, with its 95 % interval${left ? `; the ${lines.length} largest groups` : ''}.`,
    lines.length > 1 && h('ul', { class: 'shape-key' }, lines.map((item) => h('li', {}, sdb.swatch(item), h('bdi', {}, item.name)))), host,
    sdb.dataTable('Every day', [], () => sdb.table('Day by day', [{ label: 'day', text: true }, { label: sdb.data.by || 'log', text: true }, { label: 'in force' }, { label: '95 %' }, { label: 'streams' }],
      days.map((day) => [day.day, groups[day.group].name, sdb.percent(day.inForce), day.interval ? `${sdb.percent(day.interval[0])}–${sdb.percent(day.interval[1])}` : '–', sdb.count(day.streams)]))));
  sdb.fit(host, (width) => {
    const each = Math.max(1, Math.ceil(all.length / Math.max(2, Math.floor(width / 90))));
    const marks = all.filter((_, k) => k % each === 0).map((day) => [at.get(day), dated && width < 600 ? day.slice(5) : day]);
    host.replaceChildren(sdb.lineChart({ width, height: 220, marks, series, label: 'In-force accuracy day by day' }));
  });
};

// What was mixed up

const MOST_WORDS = 9;
const MOST_MIXES = 6;
const chosen = { mix: null, group: -1, search: '', shown: 40, stream: null };

/* Pairs of decisions with their seconds, of one group or of all. */
const mixesOf = (group) => {
  const sums = new Map();
  sdb.data.mixes.forEach((list, k) => {
    if (group >= 0 && k !== group) return;
    list.forEach(([p, y, s]) => sums.set(`${p},${y}`, (sums.get(`${p},${y}`) || 0) + s));
  });
  return [...sums].map(([key, s]) => [...key.split(',').map(Number), s]).sort((a, b) => b[2] - a[2]);
};
const mixText = ([p, y]) => `${named(wordOf(p))} in force while ${wordOf(y)} was right`;

const drawMixes = () => {
  const host = document.getElementById('mix-body');
  const mixes = mixesOf(chosen.group);
  const wrong = mixes.filter(([p, y]) => p !== y);
  const lost = wrong.reduce((sum, [, , s]) => sum + s, 0);
  const most = wrong.length ? wrong[0][2] : 1;
  const weight = new Map();
  mixes.forEach(([p, y, s]) => { [p, y].forEach((k) => weight.set(k, (weight.get(k) || 0) + s)); });
  const kept = [...weight].filter(([k]) => k >= 0).sort((a, b) => b[1] - a[1]).slice(0, MOST_WORDS).map(([k]) => k);
  const other = weight.size - (weight.has(-1) ? 1 : 0) > kept.length;
  const OTHER = -2;
  const place = (k) => (k === -1 || kept.includes(k) ? k : OTHER);
  const cells = new Map();
  mixes.forEach(([p, y, s]) => { const key = `${place(p)},${place(y)}`; cells.set(key, (cells.get(key) || 0) + s); });
  const columns = [...kept, ...(other ? [OTHER] : [])];
  const rows = [...(weight.has(-1) ? [-1] : []), ...columns];
  const head = (k) => (k === OTHER ? 'others' : brief(named(wordOf(k))));
  const cell = (p, y) => {
    const s = cells.get(`${p},${y}`) || 0;
    const right = p === y && p !== OTHER;
    const share = right ? 0 : Math.min(s / most, 1);
    return h('td', { class: right ? 'mix right' : 'mix', style: { '--share': `${Math.round(70 * share)}%` } },
      s <= 0 ? '' : right || p === OTHER || y === OTHER ? sdb.fixed(s, 1)
        : h('button', { type: 'button', title: mixText([p, y]), onclick: () => chooseMix([p, y]) }, sdb.fixed(s, 1)));
  };
  host.replaceChildren(
    h('p', { class: 'summary' }, wrong.length ? `${sdb.fixed(lost, 1)} s wrong. The mix-ups that took the most time; choose one to see its streams first.` : 'Nothing was wrong.'),
    h('div', { class: 'mix-rows' }, wrong.slice(0, MOST_MIXES).map((mix) => h('button', { type: 'button', class: 'mix-row', onclick: () => chooseMix(mix) },
      h('span', { class: 'mix-words' }, h('b', {}, h('bdi', {}, brief(named(wordOf(mix[0]))))), h('span', { class: 'muted' }, ' in force, right was '), h('b', {}, h('bdi', {}, brief(wordOf(mix[1]))))),
      h('span', { class: 'mix-bar', 'aria-hidden': 'true' }, h('span', { style: { width: `${(100 * mix[2]) / most}%` } })),
      h('span', { class: 'num' }, `${sdb.fixed(mix[2], 1)} s`, h('span', { class: 'muted' }, ` ${sdb.percent(mix[2] / lost)} %`))))),
    h('div', { class: 'scroll mix-table', tabindex: 0, role: 'region', 'aria-label': 'Seconds in force against right' }, h('table', {},
      h('caption', { class: 'sr' }, 'Seconds in force against right'),
      h('thead', {}, h('tr', {}, h('th', { class: 'text', scope: 'col' }, 'in force ↓ right →'), columns.map((k) => h('th', { scope: 'col' }, h('bdi', {}, head(k)))))),
      h('tbody', {}, rows.map((p) => h('tr', {}, h('th', { class: 'text', scope: 'row' }, h('bdi', {}, head(p))), columns.map((y) => cell(p, y))))))));
};

const groupPicker = (id) => h('select', { id, 'aria-label': `Group`, onchange: (event) => { chosen.group = Number(event.target.value); refresh(); } },
  h('option', { value: -1 }, `every ${sdb.data.by}`), groups.map((group, k) => h('option', { value: k }, group.name)));

// Streams

/* Seconds of one mix-up in a stream: its pieces beside its reference. */
const mixSeconds = (stream, [p, y]) => {
  let total = 0;
  (stream.pieces || []).filter((piece) => piece[4] === p).forEach(([a, b]) => stream.reference.forEach(([from, to, text]) => {
    if (text === y) total += Math.max(0, Math.min(b, to) - Math.max(a, from));
  }));
  return total;
};

/* As the drawing code knows streams. */
const streams = sdb.data.streams.map((one, index) => ({
  ...one,
  index,
  from: 0,
  id: String(index),
  title: one.id,
  open: false,
  reference: (one.reference || []).map(([a, b, k, step]) => [a, b, wordOf(k), step]),
  lanes: one.pieces ? [{ component: 'in force', seconds: one.seconds, pieces: one.pieces.map(([a, b, kind, step, k]) => [a, b, kind, step, wordOf(k)]) }] : [],
}));

const found = () => {
  const search = chosen.search.toLowerCase();
  let list = streams.filter((stream) => (chosen.group < 0 || stream.group === chosen.group) && stream.title.toLowerCase().includes(search));
  if (chosen.mix) {
    list = list.map((stream) => [mixSeconds(sdb.data.streams[stream.index], chosen.mix), stream]).filter(([s]) => s > 1e-9).sort((a, b) => b[0] - a[0]).map(([s, stream]) => ({ ...stream, value: s }));
  }
  return list;
};

const stateBox = h('div', { class: 'state-box', hidden: true });
const showState = (stream, at) => {
  const one = sdb.data.streams[stream.index];
  if (!one.said) return;
  let step = one.published.findLastIndex((t) => t <= at + 1e-6);
  if (step < 0) step = 0;
  let text = one.said[step];
  try { text = JSON.stringify(JSON.parse(text), null, 2); } catch { /* text as it is */ }
  stateBox.hidden = false;
  stateBox.replaceChildren(h('p', { class: 'muted small' }, `State ${step}, published at ${sdb.fixed(one.published[step], 2)} s`), h('pre', {}, text ?? 'no state is known'));
};
const lanes = sdb.streamLanes({
  label: (lane) => lane.component,
  inBlock: brief,
  another: (by) => {
    const list = found();
    const next = list[list.findIndex((stream) => stream.id === chosen.stream) + by];
    if (next) chooseStream(next.id);
  },
  moved: showState,
});

const chooseStream = (id) => {
  chosen.stream = id;
  drawStreams();
};
const chooseMix = (mix) => {
  chosen.mix = mix ? mix.slice(0, 2) : null;
  chosen.stream = found()[0]?.id ?? chosen.stream;
  drawStreams();
  if (mix) document.getElementById('streams').scrollIntoView();
};

const drawStreams = () => {
  const list = found();
  const host = document.getElementById('stream-rows');
  const current = streams.find((stream) => stream.id === chosen.stream) || list[0];
  if (current && current.id !== lanes.current) {
    lanes.current = current.id;
    stateBox.hidden = true;
    const worst = current.lanes[0]?.pieces.filter(([, , kind]) => !['current_correct', 'outdated_correct', 'unjudged'].includes(sdb.classByColumn[kind].key)).sort((a, b) => (b[1] - b[0]) - (a[1] - a[0]))[0];
    showState(current, worst ? worst[0] : 0);
  }
  lanes.show(current || null);
  document.getElementById('lane-facts').replaceChildren(...(current ? [
    `${groups.length > 1 ? `${current.groupName} · ` : ''}began ${current.began} · wrong ${sdb.fixed(current.wrong, 1)} of ${sdb.fixed(current.judged, 1)} judged s`,
    current.lanes.length === 0 && h('span', {}, '. There is no room for its lanes on this page: ', h('code', {}, `sdb logs show … --stream ${current.title}`))].filter(Boolean) : ['No stream is chosen.']));
  const mix = document.getElementById('mix-chosen');
  mix.replaceChildren(...(chosen.mix ? [h('span', {}, `By: ${mixText(chosen.mix)}`), h('button', { type: 'button', class: 'plain', onclick: () => chooseMix(null) }, 'By wrong time')] : []));
  host.replaceChildren(...list.slice(0, chosen.shown).map((stream) => sdb.streamRow(stream, host.clientWidth, {
    pressed: stream.id === current?.id, onclick: () => chooseStream(stream.id), note: groups.length > 1 && stream.groupName,
    value: sdb.fixed(stream.value ?? stream.wrong, 1),
  })));
  document.getElementById('streams-said').textContent = `${sdb.plural(list.length, 'stream')}${list.length > chosen.shown ? `, ${chosen.shown} shown` : ''}; at the right the seconds ${chosen.mix ? 'of this mix-up' : 'wrong'}.`;
  document.getElementById('more').hidden = list.length <= chosen.shown;
};

const refresh = () => {
  document.querySelectorAll('select').forEach((select) => { select.value = String(chosen.group); });
  drawMixes();
  drawStreams();
};

drawGroups();
drawDays();
sdb.section('mixes', 'What was mixed up', null, groups.length > 1 && h('div', { class: 'lane-tools' }, groupPicker('mix-group')), h('div', { id: 'mix-body' }));
if (streams.length) {
  const { wrong } = sdb.data;
  const rest = wrong.streams - streams.length;
  sdb.section('streams', 'Streams by wrong time',
    `${sdb.fixed(wrong.wrong_s, 1)} s wrong in ${sdb.count(wrong.streams - wrong.without)} of ${sdb.plural(wrong.streams, 'stream')}${wrong.half ? `; half of it in ${sdb.count(wrong.half)}` : ''}.${rest > 0 ? ` The ${sdb.count(streams.length)} with the most are here; sdb logs show finds any other.` : ''}`,
    lanes.title, h('p', { class: 'muted small', id: 'lane-facts' }), sdb.classKey(), lanes.plot, stateBox, lanes.hint,
    h('div', { class: 'lane-tools stream-tools' }, h('label', { for: 'search' }, 'Find'),
      h('input', { type: 'search', id: 'search', placeholder: 'name of a stream', oninput: (event) => { chosen.search = event.target.value; chosen.shown = 40; drawStreams(); } }),
      groups.length > 1 && groupPicker('stream-group'), h('span', { id: 'mix-chosen', class: 'lane-tools' })),
    h('p', { class: 'muted small', id: 'streams-said', role: 'status' }),
    h('div', { id: 'stream-rows' }),
    h('button', { type: 'button', class: 'plain', id: 'more', onclick: () => { chosen.shown += 200; drawStreams(); } }, 'Show more'));
  sdb.fit(document.getElementById('stream-rows'), drawStreams);
}
drawMixes();
if (sdb.data.costs.length) {
  sdb.section('costs', 'Spells, changes, costs', null, sdb.data.costs.map((table) => [h('h3', {}, table.title), tableOf(table)]));
}
sdb.section('made', 'How it was made', null, h('p', { class: 'signature' }, sdb.data.signature));
document.documentElement.dataset.ready = 'yes';
