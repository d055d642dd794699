// Pace curves: overall large, families small, one legend for all charts of recordings.

const lineOf = (rec, values, exact) => ({
  name: rec.name + sdb.mark(rec), label: sdb.endName(rec), values, exact, ...sdb.look(rec), faint: !sdb.state.shown.has(rec.index),
});

sdb.legend = () => {
  const items = [...sdb.ranked, ...sdb.pairs].map((rec) => {
    const value = h('b', {});
    const button = h('button', { type: 'button', class: 'legend-item', 'data-recording': rec.name, onclick: () => sdb.toggleShown(rec.index) },
      sdb.swatch(rec), sdb.nameOf(rec), sdb.badges(rec, true), value);
    return { rec, button, value };
  });
  const choose = (label, list) => h('button', { type: 'button', class: 'plain', onclick: () => sdb.set({ shown: new Set(list.map((rec) => rec.index)) }) }, label);
  const legend = h('div', { class: 'legend' },
    sdb.ranked.length > 1 && h('div', { class: 'legend-tools' }, h('button', { type: 'button', class: 'plain', onclick: () => sdb.set({ shown: new Set(sdb.board().map((rec) => rec.index)) }) }, 'All'),
      sdb.ranked.length > SHOWN_AT_FIRST && choose(`Top ${SHOWN_AT_FIRST}`, sdb.ranked.slice(0, SHOWN_AT_FIRST)), choose('None', [])),
    h('div', { class: 'legend-items', role: 'group', 'aria-label': 'Recordings shown in charts' }, items.map((i) => i.button)));
  sdb.follow(['interval', 'shown', 'board'], () => items.forEach(({ rec, button, value }) => {
    button.hidden = Boolean(rec.pair) && !sdb.state.board.has(rec.index);
    if (button.hidden) return;
    button.setAttribute('aria-pressed', String(sdb.state.shown.has(rec.index)));
    value.textContent = sdb.percent(sdb.now(rec).overall.inForce);
  }));
  return legend;
};

sdb.curves = () => {
  const overall = sdb.paceChart({
    title: 'In-force accuracy over the interval, overall.',
    height: 340,
    labelled: true,
    series: () => sdb.board().map((rec) => lineOf(rec, sdb.curve(rec).overall, (d) => exactOf(rec, d).overall.inForce)),
  });
  const familyRange = () => sdb.shareRange(sdb.board().flatMap((rec) => [...sdb.curve(rec).families.values()]));
  const small = sdb.data.families.map((family, f) => {
    const chart = sdb.paceChart({
      title: `In-force accuracy over the interval, ${family.name}.`,
      height: 190,
      range: familyRange,
      series: () => sdb.board().filter((rec) => rec.families.includes(f))
        .map((rec) => lineOf(rec, sdb.curve(rec).families.get(f), (d) => exactOf(rec, d).families.get(f).inForce)),
    });
    return { family, chart };
  });
  const summary = h('p', { class: 'summary' });
  sdb.section('curves', 'Pace curves',
    'In-force accuracy (%) against the seconds between steps. Press or drag in a chart to move the interval. Curves are evaluated exactly, not interpolated.',
    h('figure', {}, h('figcaption', {}, 'Overall'), overall.host, sdb.legend(), summary),
    small.length > 1 && h('div', { class: 'small-multiples' }, small.map(({ family, chart }) => h('figure', {}, h('figcaption', {}, family.name), chart.host))),
    sdb.dataTable('Data table', ['interval', 'shown'], curveTable));
  const all = [overall, ...(small.length > 1 ? small.map((s) => s.chart) : [])];
  sdb.follow(['shown', 'board'], () => all.forEach((chart) => chart.draw()));
  sdb.follow(['interval'], () => all.forEach((chart) => chart.move()));
  sdb.follow(['shown'], () => {
    const shown = sdb.shown();
    summary.textContent = shown.length === 0 ? 'No recording is shown.' : shown.slice(0, 6).map((rec) => {
      const { overall: values } = sdb.curve(rec);
      return `${rec.name}${sdb.mark(rec)}: ${sdb.percent(values[0])} % at ${sdb.short(sdb.low)} s, ${sdb.percent(values[values.length - 1])} % at ${sdb.short(sdb.high)} s`;
    }).join('; ') + (shown.length > 6 ? `; and ${shown.length - 6} more.` : '.');
  });
};

/* The kept levels when asked for the current interval, a fresh evaluation elsewhere. */
const exactOf = (rec, d) => (d === sdb.state.interval ? sdb.now(rec) : sdb.levels({ ...rec, kept: null }, d));

const curveTable = () => {
  const at = [...new Set([...sdb.paceTicks(), sdb.state.interval])].sort((a, b) => a - b);
  const rows = [];
  sdb.shown().forEach((rec) => {
    const levels = at.map((d) => exactOf(rec, d));
    rows.push([rec.name + sdb.mark(rec), 'overall', ...levels.map((l) => sdb.percent(l.overall.inForce))]);
    rec.families.forEach((f) => rows.push([rec.name + sdb.mark(rec), sdb.data.families[f].name, ...levels.map((l) => sdb.percent(l.families.get(f).inForce))]));
  });
  return sdb.table('In-force accuracy by interval, %', [{ label: 'Recording', text: true }, { label: 'level', text: true }, ...at.map((d) => ({ label: `${sdb.short(d)} s` }))], rows);
};
