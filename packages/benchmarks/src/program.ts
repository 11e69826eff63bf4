import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/**
 * A module of this package that runs as a separate process and answers questions, one at a time.
 */
export interface Program {
  ask<Reply>(question: object): Promise<Reply>;
  stop(): Promise<void>;
}

/** Starts a module, given by its path below `src`, with additional environment variables. */
export const startProgram = (
  module: string,
  environment: Readonly<Record<string, string>> = {},
): Program => {
  const child = fork(fileURLToPath(new URL(`${module}.js`, import.meta.url)), {
    env: { ...process.env, ...environment },
  });
  const exited = once(child, 'exit').then(() => [{ problem: `${module} has ended` }]);
  return {
    async ask<Reply>(question: object) {
      child.send(question);
      const [answer] = await Promise.race([once(child, 'message'), exited]);
      const { problem } = answer as { problem?: string };
      if (problem !== undefined) throw new Error(problem);
      return answer as Reply;
    },
    async stop() {
      if (child.connected) child.disconnect();
      await exited;
    },
  };
};

/** The side of the child process: answers questions, and ends with its parent. */
export const answerQuestions = <Question, Reply extends object>(
  answer: (question: Question) => Promise<Reply>,
): void => {
  process.on('message', (question: Question) => {
    answer(question).then(
      (answered) => process.send?.(answered),
      (error: unknown) => process.send?.({ problem: String(error) }),
    );
  });
  process.on('disconnect', () => process.exit());
};
