import { SingleBar } from 'cli-progress';

/** Who is told how far a run has come. */
export interface Progress {
  note(text: string): void;
  begin(name: string, total: number): Task;
}

/** One load. */
export interface Task {
  readonly advance: (count: number) => void;
  /** What is being done beside counting, and how far it is. */
  readonly step: (what: string, state?: string) => void;
  end(): void;
}

/** Between two lines where there is no terminal. */
const LINE_MS = 10_000;

/** A bar for each load on standard error; a line now and then where that is no terminal. */
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
    let told = '';
    return {
      advance: (count) => bar.increment(count),
      step(what, state = '') {
        bar.update({ step: state === '' ? what : `${what}: ${state}` });
        if (stream.isTTY || what === told) return;
        told = what;
        stream.write(`${name}: ${what}\n`);
      },
      end() {
        bar.update({ step: '' });
        bar.stop();
      },
    };
  },
});
