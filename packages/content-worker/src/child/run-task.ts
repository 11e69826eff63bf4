import { createWriteStream } from 'node:fs';
import { MAX_FILE_BYTES, UNREADABLE } from '../types.ts';
import { confine } from './confinement.ts';

/** The exit code if the task rejects with this error. */
export class TaskFailed extends Error {
  readonly exitCode: number;

  constructor(exitCode: number, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}

/**
 * Reads the content into one buffer, of which only what is written takes memory: the parts of a list would be in memory
 * twice while it is joined.
 */
const readContent = async (): Promise<Buffer> => {
  const whole = Buffer.allocUnsafeSlow(MAX_FILE_BYTES);
  let size = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    if (size + chunk.length > whole.length) throw new RangeError('The file is too large.');
    size += chunk.copy(whole, size);
  }
  return whole.subarray(0, size);
};

type Task = (content: Buffer, type: string, seconds: number) => Promise<string | Buffer>;

/**
 * Runs the task that the arguments of this process name, within the limits that they give: reads the content from the standard
 * input, and writes the result to the file descriptor 3.
 */
export const runTask = async (tasks: Readonly<Record<string, Task>>): Promise<void> => {
  const [task = '', type = '', seconds = '', memoryBytes = ''] = process.argv.slice(2);
  confine({ seconds: Number(seconds), memoryBytes: Number(memoryBytes) });
  const work = tasks[task];
  if (!work) throw new TypeError(`There is no task "${task}".`);
  const result = await work(await readContent(), type, Number(seconds)).catch((error: unknown) => {
    process.exitCode = error instanceof TaskFailed ? error.exitCode : UNREADABLE;
    return error instanceof Error ? error.message : String(error);
  });
  // Timers of libraries must not keep the process alive.
  createWriteStream('', { fd: 3 }).end(result, () => process.exit());
};
