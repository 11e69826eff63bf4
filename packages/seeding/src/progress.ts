import { SingleBar } from 'cli-progress';

/** Reports the progress of a run. */
export interface Progress {
  note(text: string): void;
  begin(name: string, total: number): Task;
}

/** The progress of one load. */
export interface Task {
  readonly advance: (count: number) => void;
  /** Shows the current step besides the count, and its state. */
  readonly step: (what: string, state?: string) => void;
  end(): void;
}

/** Shows nothing. */
export const silentProgress: Progress = {
  note: () => {},
  begin: () => ({ advance: () => {}, step: () => {}, end: () => {} }),
};

/** The time between two lines when standard error is no terminal. */
const LINE_MS = 10_000;

/** Shows a progress bar for each load on standard error, or prints a line every 10 s when that is no terminal. */
export const terminalProgress = (stream: NodeJS.WriteStream = process.stderr): Progress => ({
  note: (text) => void stream.write(`${text}\n`),
  begin(name, total) {
    const bar = new SingleBar({
      stream,
      format: stream.isTTY
        ? '{name} {bar} {percentage} %  {value} of {total}  {duration_formatted}  {step}'
        : '{name}: {value} of {total}  {step}',
      formatValue: (value, _, type) =>
        type === 'value' || type === 'total' ? value.toLocaleString('en') : `${value}`,
      barsize: 30,
      hideCursor: true,
      noTTYOutput: true,
      notTTYSchedule: LINE_MS,
    });
    bar.start(total, 0, { name, step: '' });
    let printedStep = '';
    return {
      advance: (count) => bar.increment(count),
      step(what, state = '') {
        bar.update({ step: state === '' ? what : `${what}: ${state}` });
        if (stream.isTTY || what === printedStep) return;
        printedStep = what;
        stream.write(`${name}: ${what}\n`);
      },
      end() {
        bar.update({ step: '' });
        bar.stop();
      },
    };
  },
});
