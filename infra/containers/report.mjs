const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;

/** Formats rows with aligned columns: the first to the left, the others to the right. */
export const tableOf = (rows) => {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  const align = (text, column) =>
    column === 0 ? text.padEnd(widths[column]) : text.padStart(widths[column]);
  return rows.map((row) => row.map(align).join('  ').trimEnd()).join('\n');
};

export const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;

/** Collects steps with their times and other results for the final report. */
export const createReport = () => {
  const began = Date.now();
  const times = [];
  const facts = [];
  return {
    /** Runs one step of the verification. */
    async step(name, work) {
      console.log(`- ${name}`);
      const started = Date.now();
      try {
        return await work();
      } finally {
        const time = seconds(Date.now() - started);
        times.push([name, time]);
        console.log(`  ${time}`);
      }
    },
    note(name, value) {
      facts.push([name, value]);
    },
    text: () =>
      [
        tableOf([...times, ['in all', seconds(Date.now() - began)]]),
        tableOf(facts.length > 0 ? facts : [['', '']]),
      ].join('\n\n'),
  };
};
