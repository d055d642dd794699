// Lanes: the reference and each component's decision in force over one scenario, coloured by class.

/* What the lanes look at: a window of ticks, a cursor in it, and the lane the keyboard is on. */
const lanes = { from: 0, to: 1, cursor: null, row: 0, rows: [], tracks: [], width: 0, outdated: false };
const NARROW = 700;

const scenarioNow = () => sdb.scenarioById.get(sdb.state.scenario);
const ticksOf = (scenario) => scenario.reference.length;
const lineIn = (rec, scenario) => rec.lines.find((line) => line.scenario === scenario);

/* Segments of one class and source, in ticks of the scenario. */
sdb.pieces = (line, interval) => {
  const found = [];
  sdb.walk(line, sdb.spans(line, interval).spans, (from, to, source, step, kind) => {
    const last = found[found.length - 1];
    if (last && last.source === source && last.kind === kind) last.to = to / line.tick;
    else found.push({ from: from / line.tick, to: to / line.tick, source, kind, step });
  });
  return found;
};

/* Reference segments: [{from, to, step}] with the step that opened each. */
sdb.segments = (scenario) => {
  const found = [];
  scenario.reference.forEach((d, i) => {
    if (i && scenario.reference[i - 1] === d) found[found.length - 1].to = i + 1;
    else found.push({ from: i, to: i + 1, step: i });
  });
  return found;
};

/* Which step an answer in force is for, and of a pair whose answer it is. */
const sourceText = (line, source) => `${sdb.stepOf(line, source)}${line.pair ? (source < line.n ? ', fast' : ', slow') : ''}`;

const notesAt = (scenario, step) => (scenario.evidence[step] || []);

sdb.lanes = () => {
  const title = h('h3', { class: 'lane-title' });
  const plot = h('div', { class: 'lanes', id: 'lane-plot', tabindex: 0, role: 'group', 'aria-describedby': 'lane-hint' });
  const picker = h('select', { id: 'scenario', onchange: (event) => sdb.set({ scenario: event.target.value }) },
    sdb.data.families.map((family, f) => h('optgroup', { label: family.name },
      sdb.data.scenarios.filter((s) => s.family === f).map((s) => h('option', { value: s.id }, `${s.id}: ${s.title}`)))));
  const tool = (label, name, act) => h('button', { type: 'button', class: 'tool', 'aria-label': name, title: name, onclick: act }, label);
  const inner = { plot };
  const oneLane = sdb.dataTable('Decisions in force of one lane', ['scenario', 'interval', 'shown', 'lane'], forceTable);
  oneLane.classList.add('screen-only');
  sdb.section('lanes', 'Lanes',
    'What the application applied, moment by moment. The top lane is the reference; below, each component’s decision in force, coloured by class at the current interval. A line on top marks wrong spells longer than 4 s.',
    h('div', { class: 'lane-tools' }, h('label', { for: 'scenario' }, 'Scenario'), picker,
      h('span', { class: 'tools' }, tool('−', 'Zoom out', () => sdb.zoomLanes(2)), tool('+', 'Zoom in', () => sdb.zoomLanes(0.5)),
        tool('◀', 'Earlier', () => sdb.panLanes(-0.5)), tool('▶', 'Later', () => sdb.panLanes(0.5)),
        tool('All', 'Whole scenario', () => sdb.showTicks(0, Infinity)))),
    title, sdb.classKey(), plot,
    h('p', { class: 'muted small', id: 'lane-hint' }, 'Tap or point to read a moment out. Drag across the lanes to zoom in, double-click to see all. With Ctrl or ⌘ the wheel zooms, with Shift it moves. On the keyboard: ← → move the cursor, ↑ ↓ change lane, Page Up and Page Down go to the previous and next change of the reference, + − zoom, Home shows all.'),
    sdb.dataTable('Changes of the reference and their evidence', ['scenario'], changesTable),
    sdb.dataTable('Classes of time in this scenario', ['scenario', 'interval', 'shown'], laneClassTable),
    oneLane);

  sdb.follow(['scenario'], () => {
    const scenario = scenarioNow();
    picker.value = scenario.id;
    title.replaceChildren(h('bdi', {}, scenario.title), h('span', { class: 'muted' },
      ` ${scenario.id} · ${sdb.plural(ticksOf(scenario), 'step')} · ${sdb.plural(sdb.segments(scenario).length - 1, 'change')}`));
    Object.assign(lanes, { from: 0, to: ticksOf(scenario), cursor: null, row: 0 });
  });
  sdb.follow(['scenario', 'shown'], () => drawLanes(plot));
  // Thirty lanes are the one thing that costs time: they follow a dragged interval once per frame,
  // and only while somebody can see them.
  let seen = false;
  new IntersectionObserver(([entry]) => { seen = entry.isIntersecting; if (seen) sdb.freshLanes(); }).observe(plot);
  sdb.follow(['interval'], () => { lanes.outdated = true; if (seen) requestAnimationFrame(sdb.freshLanes); });
  window.addEventListener('beforeprint', () => sdb.freshLanes());
  sdb.laneInput(inner);
};

sdb.freshLanes = () => { if (lanes.outdated) drawLanes(document.getElementById('lane-plot')); };

/* Moves the window, inside the scenario and never under a fifth of a tick. */
sdb.showTicks = (from, to) => {
  const n = ticksOf(scenarioNow());
  const width = Math.min(Math.max(to - from, 0.2), n);
  lanes.from = Math.min(Math.max(from, 0), n - width);
  lanes.to = lanes.from + width;
  drawLanes(document.getElementById('lane-plot'));
};
sdb.zoomLanes = (factor, around = lanes.cursor ?? (lanes.from + lanes.to) / 2) => {
  sdb.showTicks(around - (around - lanes.from) * factor, around + (lanes.to - around) * factor);
};
sdb.panLanes = (share) => {
  const width = lanes.to - lanes.from;
  sdb.showTicks(lanes.from + share * width, lanes.to + share * width);
};

const percentOf = (tick) => sdb.percentOf(lanes, tick);
const block = (...what) => sdb.block(lanes, ...what);
const wide = (from, to, pixels) => sdb.wide(lanes, from, to, pixels);

/* Neighbouring pieces that look alike as one block: {from, to, kind, decision}. */
const blocksOf = (line, pieces) => {
  const found = [];
  for (const { from, to, kind, source } of pieces) {
    const decision = source < 0 ? -1 : line.p[source];
    const last = found[found.length - 1];
    if (last && last.kind === kind && last.decision === decision) last.to = to;
    else found.push({ from, to, kind, decision });
  }
  return found;
};

/* Small marks where an answer took effect, once there is room for them. */
const acceptances = (pieces) => {
  if (lanes.width / (lanes.to - lanes.from) < 10) return [];
  return pieces.filter((p, i) => p.source >= 0 && pieces[i - 1]?.source !== p.source && p.from >= lanes.from && p.from <= lanes.to).map((p) => {
    const mark = h('span', { class: 'accepted' });
    mark.style.left = `${percentOf(p.from).toFixed(3)}%`;
    return mark;
  });
};

/* A line above wrong spells that last longer than θ. */
const longSpells = (line) => sdb.wrongSpells(line, sdb.state.interval).filter(({ seconds }) => seconds > sdb.theta)
  .map(({ from, to, seconds }) => block(from, to, { class: 'long-spell', title: `wrong for ${sdb.fixed(seconds)} s` }));

const drawLanes = (plot) => {
  const scenario = scenarioNow();
  const rows = [];
  lanes.outdated = false;
  // Read once: asking for a width between changes would lay the page out anew each time.
  lanes.width = plot.clientWidth > NARROW ? plot.clientWidth - 270 : plot.clientWidth;
  const { track, laneRow: lane } = sdb;
  const axis = sdb.axisTrack(lanes);
  const segments = sdb.segments(scenario);
  const opening = new Set(segments.slice(1).map((s) => s.step));
  const dots = track(scenario.evidence.map((notes, step) => {
    const at = sdb.tickOf(scenario, step);
    if (!notes.length || at < lanes.from || at > lanes.to) return null;
    const dot = h('span', { class: opening.has(step) ? 'note cause' : 'note' });
    dot.style.left = `${percentOf(at).toFixed(3)}%`;
    return dot;
  }));
  const span = (s) => [sdb.tickOf(scenario, s.from), sdb.tickOf(scenario, s.to)];
  const reference = track(segments.map((s, i) => block(...span(s), { class: `ref${i % 2 ? ' odd' : ''}` },
    wide(...span(s), 30) && h('span', { class: 'block-text' }, sdb.decisionText(scenario.decisions[scenario.reference[s.step]])))));
  plot.replaceChildren(
    lane('axis', h('span', { class: 'muted' }, `step (${sdb.short(sdb.state.interval)} s each${scenario.rhythm ? ' on average' : ''})`), '', axis),
    ...(scenario.evidence.some((notes) => notes.length) ? [lane('notes', h('span', { class: 'muted' }, 'evidence'), '', dots)] : []),
    lane('reference', 'reference', '', reference),
  );
  lanes.tracks = [reference];
  for (const rec of sdb.shown()) {
    const line = lineIn(rec, scenario);
    if (!line) continue;
    const pieces = sdb.pieces(line, sdb.state.interval);
    const body = track(blocksOf(line, pieces).map((b) => block(b.from, b.to, { class: `piece k-${sdb.classByColumn[b.kind].key}` },
      b.decision >= 0 && wide(b.from, b.to, 52) && h('span', { class: 'block-text' }, sdb.decisionText(scenario.decisions[b.decision])))),
    acceptances(pieces), longSpells(line));
    rows.push({ rec, line, pieces });
    lanes.tracks.push(body);
    plot.append(lane('component', [sdb.swatch(rec), sdb.nameOf(rec), ...sdb.badges(rec, true)],
      sdb.percent(sdb.now(rec).scenarios.get(scenario.id).inForce), body));
  }
  if (!rows.length) plot.append(h('p', { class: 'muted lane-empty' }, 'No shown recording holds this scenario; choose recordings in the leaderboard.'));
  const cursor = h('div', { class: 'lane-cursor', hidden: true });
  plot.append(cursor, h('div', { class: 'lane-brush', hidden: true }));
  lanes.rows = rows;
  lanes.row = Math.min(lanes.row, Math.max(rows.length - 1, 0));
  plot.setAttribute('aria-label', laneSummary(scenario, rows));
  sdb.placeCursor();
};

const laneSummary = (scenario, rows) => {
  const parts = rows.map(({ rec }) => `${rec.name}${sdb.mark(rec)} right ${sdb.percent(sdb.now(rec).scenarios.get(scenario.id).inForce)} % of the time`);
  return `Lanes of ${scenario.title}: steps ${sdb.fixed(lanes.from, 1)} to ${sdb.fixed(lanes.to, 1)} at ${sdb.short(sdb.state.interval)} s per step. ${parts.join(', ')}.`;
};

const changesTable = () => {
  const scenario = scenarioNow();
  return sdb.table(`Changes of the reference in ${scenario.title}`,
    [{ label: 'step', text: true }, { label: 'reference from here', text: true }, { label: 'evidence', text: true }],
    sdb.segments(scenario).map((s) => [String(s.step), sdb.decisionLong(scenario.decisions[scenario.reference[s.step]]),
      notesAt(scenario, s.step).length ? h('ul', { class: 'notes-list' }, notesAt(scenario, s.step).map((note) => h('li', {}, note))) : '–']));
};

const laneClassTable = () => {
  const scenario = scenarioNow();
  const columns = [{ label: 'Recording', text: true }, { label: 'in force' }, { label: 'untimed' }, { label: 'oracle' }, ...sdb.data.classes.map((k) => ({ label: k.label })), { label: 'AUC' }];
  return sdb.table(`Classes of time in ${scenario.title} at ${sdb.short(sdb.state.interval)} s, %`, columns,
    lanes.rows.map(({ rec, line }) => {
      const level = sdb.now(rec).scenarios.get(scenario.id);
      return [rec.name + sdb.mark(rec), sdb.percent(level.inForce), sdb.percent(line.pair ? null : line.untimed), sdb.percent(level.oracle),
        ...sdb.data.classes.map((k) => sdb.percent(level.classes[k.column])), sdb.percent(rec.levels[scenario.id].auc)];
    }));
};

const forceTable = () => {
  sdb.freshLanes();
  const row = lanes.rows[lanes.row];
  if (!row) return h('p', { class: 'muted' }, 'No lane is shown.');
  const scenario = scenarioNow();
  const pick = h('select', { 'aria-label': 'Lane', onchange: (event) => { lanes.row = Number(event.target.value); sdb.set({ lane: lanes.row }); } },
    lanes.rows.map(({ rec }, i) => h('option', { value: i, selected: i === lanes.row }, rec.name + sdb.mark(rec))));
  return h('div', {}, pick, sdb.table(`Decisions of ${row.rec.name} in force`,
    [{ label: 'from step', text: true }, { label: 'to' }, { label: 'source step' }, { label: 'class', text: true }, { label: 'decision in force', text: true }],
    row.pieces.map((p) => [sdb.fixed(p.from, 2), sdb.fixed(p.to, 2), p.source < 0 ? '–' : sourceText(row.line, p.source), sdb.classByColumn[p.kind].label,
      p.source < 0 ? '–' : sdb.decisionLong(scenario.decisions[row.line.p[p.source]])])));
};
