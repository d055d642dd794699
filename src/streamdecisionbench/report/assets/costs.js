// What being wrong costs: wrong spells, delays after reference changes, and the price of both.

/* From this many seconds on a wrong spell counts as long. */
sdb.theta = 4;

/* Wrong spells of one scenario at one interval: [{from, to}] in ticks, `seconds` long. */
sdb.wrongSpells = (line, interval) => {
  const found = [];
  let last = null;
  sdb.walk(line, sdb.spans(line, interval).spans, (from, to, source, step, kind) => {
    if (kind === RIGHT || kind === LUCKY) { last = null; return; }
    if (last) last.to = to / line.tick;
    else { last = { from: from / line.tick, to: to / line.tick }; found.push(last); }
  });
  found.forEach((spell) => { spell.seconds = (spell.to - spell.from) * interval; });
  return found;
};

/* Delays after reference changes in seconds: [{wait, limit}], wait infinite where never right. */
const delaysOf = (line, interval) => {
  const segments = sdb.segments(line.scenario);
  const seconds = interval / line.tick;
  const begin = segments.map((s) => line.r[s.from]);
  const end = segments.map((s) => line.end[s.to - 1]);
  const first = segments.map(() => Infinity);
  const place = new Map(segments.flatMap((s, k) => Array.from({ length: s.to - s.from }, (_, i) => [s.from + i, k])));
  sdb.walk(line, sdb.spans(line, interval).spans, (from, to, source, step, kind) => {
    const k = place.get(step);
    if ((kind === RIGHT || kind === LUCKY) && from < first[k]) first[k] = from;
  });
  return segments.slice(1).map((_, j) => ({ wait: (first[j + 1] - begin[j + 1]) * seconds, limit: (end[j + 1] - begin[j + 1]) * seconds }));
};

/* Kaplan and Meier: [{t, share}] of changes still unanswered from t on. */
const survival = (delays) => {
  const times = delays.map(({ wait, limit }) => ({ t: Math.min(wait, limit), seen: Number.isFinite(wait) })).sort((a, b) => a.t - b.t);
  const found = [];
  let share = 1;
  for (let i = 0; i < times.length;) {
    const { t } = times[i];
    let [same, seen] = [0, 0];
    for (let j = i; j < times.length && times[j].t === t; j += 1) { same += 1; seen += times[j].seen ? 1 : 0; }
    if (seen) { share *= 1 - seen / (times.length - i); found.push({ t, share }); }
    i += same;
  }
  return found;
};

const quantileOf = (curve, p) => {
  const k = curve.findIndex(({ share }) => share <= 1 - p + 1e-12);
  if (k < 0) return null;
  const flat = Math.abs(curve[k].share - (1 - p)) < 1e-12 && k + 1 < curve.length;
  return flat ? (curve[k].t + curve[k + 1].t) / 2 : curve[k].t;
};

/* Everything about one recording at the interval, kept until the interval moves. */
const wrongTime = (rec) => {
  if (rec.wrongTime?.interval === sdb.state.interval) return rec.wrongTime;
  const { interval } = sdb.state;
  const spells = rec.lines.flatMap((line, e) => {
    const T = ((line.H - line.r[0]) / line.tick) * interval;
    return sdb.wrongSpells(line, interval).map(({ seconds }) => ({ seconds, weight: rec.overallWeights[e] / T }));
  }).sort((a, b) => a.seconds - b.seconds);
  const sum = (value) => spells.reduce((total, s) => total + s.weight * value(s.seconds), 0);
  const delays = rec.lines.flatMap((line) => delaysOf(line, interval));
  const curve = survival(delays);
  rec.wrongTime = {
    interval, spells, curve,
    wrong: sum((x) => x), age: sum((x) => (x * x) / 2), beyond: sum((x) => Math.max(0, x - sdb.theta)),
    longest: spells.length ? spells[spells.length - 1].seconds : 0,
    mean: spells.length ? spells.reduce((total, s) => total + s.seconds, 0) / spells.length : 0,
    changes: delays.length, never: delays.filter(({ wait }) => !Number.isFinite(wait)).length, median: quantileOf(curve, 0.5),
  };
  return rec.wrongTime;
};

/* Share of time in wrong spells longer than x, as corners of a staircase. */
const lengthsCurve = (found) => {
  let left = found.wrong;
  const corners = [[0, left]];
  for (const { seconds, weight } of found.spells) {
    corners.push([seconds, left]);
    left -= weight * seconds;
    corners.push([seconds, Math.max(left, 0)]);
  }
  return corners;
};

const answeredCurve = (found, until) => {
  let share = 0;
  const corners = [[0, 0]];
  for (const { t, share: waiting } of found.curve) {
    corners.push([t, share]);
    share = 1 - waiting;
    corners.push([t, share]);
  }
  corners.push([until, share]);
  return corners;
};

/* A staircase chart: `curves()` gives [{rec, corners}] and the right end of the axis. */
const stairs = (title, yLabel, curves, topics) => {
  const host = h('div', { class: 'chart' });
  let width = 0;
  const draw = () => {
    if (!width) return;
    const height = 240;
    const m = { left: 40, right: 12, top: 12, bottom: 38 };
    const { list, until, mark } = curves();
    const top = Math.max(0.1, ...list.flatMap(({ corners }) => corners.map(([, v]) => v)));
    const high = Math.ceil(top * 10 - 1e-9) / 10;
    const x = sdb.linear(0, until, m.left, width - m.right);
    const y = sdb.linear(0, high, height - m.bottom, m.top);
    const root = svg('svg', { width, height, viewBox: `0 0 ${width} ${height}`, role: 'img' });
    const step = high > 0.55 ? 0.2 : 0.1;
    for (let v = 0; v <= high + 1e-9; v += step) {
      root.append(svg('line', { class: 'grid', x1: x(0), x2: x(until), y1: y(v), y2: y(v) }),
        svg('text', { class: 'tick', x: m.left - 8, y: y(v) + 4, 'text-anchor': 'end' }, String(Math.round(v * 100))));
    }
    const unit = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500].find((u) => until / u <= (width < 420 ? 5 : 10)) ?? until;
    for (let t = 0; t <= until + 1e-9; t += unit) root.append(svg('text', { class: 'tick', x: x(t), y: height - m.bottom + 17, 'text-anchor': 'middle' }, sdb.short(t)));
    root.append(svg('text', { class: 'tick', x: (m.left + width - m.right) / 2, y: height - 4, 'text-anchor': 'middle' }, 'seconds'));
    if (mark && mark < until) {
      root.append(svg('line', { class: 'theta', x1: x(mark), x2: x(mark), y1: y(0), y2: y(high) }),
        svg('text', { class: 'tick', x: x(mark) + 4, y: m.top + 10 }, `θ = ${sdb.short(mark)} s`));
    }
    for (const { rec, corners } of list) {
      const { colour, dash } = sdb.look(rec);
      const d = corners.filter(([t]) => t <= until + 1e-9).map(([t, v], i) => `${i ? 'L' : 'M'}${x(t).toFixed(1)} ${y(v).toFixed(1)}`).join('');
      root.append(svg('path', { class: 'stair', d, 'stroke-dasharray': dash || null, style: { stroke: colour } }, svg('title', {}, rec.name + sdb.mark(rec))));
    }
    const said = list.map(({ rec, said: words }) => `${rec.name}${sdb.mark(rec)} ${words}`).join('; ');
    root.setAttribute('aria-label', `${title} at ${sdb.short(sdb.state.interval)} s. ${said || 'Nothing is shown'}.`);
    host.replaceChildren(root);
  };
  sdb.fit(host, (w) => { width = w; draw(); });
  sdb.follow(topics, draw);
  return h('figure', {}, h('figcaption', {}, title, h('span', { class: 'muted' }, ` (${yLabel})`)), host);
};

const rounded = (value) => { const u = 10 ** Math.floor(Math.log10(Math.max(value, 0.1))); return Math.ceil(value / u) * u; };

sdb.wrongCosts = () => {
  const topics = ['interval', 'shown'];
  const key = h('ul', { class: 'shape-key', 'aria-label': 'Recordings' });
  sdb.follow(['shown'], () => key.replaceChildren(...sdb.shown().map((rec) => h('li', {}, sdb.swatch(rec), sdb.nameOf(rec), ...sdb.badges(rec, true)))));
  const lengths = () => {
    const list = sdb.shown().map((rec) => {
      const found = wrongTime(rec);
      return { rec, corners: lengthsCurve(found), said: `${sdb.percent(found.wrong)} % wrong, longest ${sdb.fixed(found.longest)} s` };
    });
    return { list, until: rounded(Math.max(1, ...sdb.shown().map((rec) => wrongTime(rec).longest))), mark: sdb.theta };
  };
  const waits = () => {
    const until = rounded(Math.max(1, ...sdb.shown().map((rec) => wrongTime(rec).curve.at(-1)?.t ?? 0)));
    const list = sdb.shown().map((rec) => {
      const found = wrongTime(rec);
      return { rec, corners: answeredCurve(found, until), said: `median ${sdb.fixed(found.median, 2)} s, never right ${found.never} of ${found.changes}` };
    });
    return { list, until, mark: null };
  };
  const table = h('div', {});
  const file = sdb.data.costFile;
  const at = `at ${sdb.short(sdb.data.interval)} s`;
  sdb.follow(topics, () => table.replaceChildren(sdb.table(`Wrong time at ${sdb.short(sdb.state.interval)} s`, [
    { label: 'Recording', text: true }, { label: 'wrong %' }, { label: 'spells' }, { label: 'mean s' }, { label: 'longest s' },
    { label: 'age s', hint: 'Mean over time of how long it has been wrong' }, { label: `> ${sdb.theta} s %`, hint: `Share of time wrong for longer than ${sdb.theta} s` },
    { label: 'median delay s', hint: 'After a reference change, Kaplan and Meier' }, { label: 'never right', hint: 'Changes after which the next one came before a right decision' },
    ...(file ? [{ label: `cost ${at}`, hint: 'Seconds of an ordinary wrong decision, per second' }] : []),
  ], sdb.shown().map((rec) => {
    const found = wrongTime(rec);
    return [[sdb.nameOf(rec), ...sdb.badges(rec, true)], sdb.percent(found.wrong), sdb.count(found.spells.length), sdb.fixed(found.mean, 2), sdb.fixed(found.longest), sdb.fixed(found.age, 2),
      sdb.percent(found.beyond), sdb.fixed(found.median, 2), `${found.never} of ${found.changes}`, ...(file ? [sdb.fixed(rec.price?.total, 3)] : [])];
  }))));
  sdb.section('costs', 'What being wrong costs',
    'Ten wrong seconds at a stretch are not ten single ones. A wrong spell is a stretch of time in which the decision in force is not right; a delay is the time from a change of what is right until the decision in force follows.',
    key, h('div', { class: 'two-charts' },
      stairs('Time in wrong spells longer than …', '% of time', lengths, topics),
      stairs('Changes answered within …', '%, Kaplan and Meier', waits, topics)),
    table, file && h('p', { class: 'muted small' }, `Costs: ${file.name}${file.dated ? `, ${file.dated}` : ''}; seconds of an ordinary wrong decision per second, ${at}, with ages and one-time acts.`),
    (sdb.data.costWords || []).map((words) => h('p', {}, words)));
};
