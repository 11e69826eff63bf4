import type { Session } from '../session.ts';

/** Runs what a command does, and prints the result. */
export type Run = (work: (session: Session) => Promise<object>) => Promise<void>;

/** Help that is printed below a command's own. */
export const examples = (...lines: readonly string[]): string =>
  `\nExamples:\n${lines.map((line) => `  $ identity-admin ${line}`).join('\n')}`;
