import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A module of this package that runs as a process of its own and answers questions, one at a time. */
export interface Program {
  ask<Answer>(question: object): Promise<Answer>;
  stop(): Promise<void>;
}

/** Starts a module, named by its path below `src`, with variables beside those of this process. */
export const startProgram = (
  module: string,
  environment: Readonly<Record<string, string>> = {},
): Program => {
  const child = fork(fileURLToPath(new URL(`${module}.js`, import.meta.url)), {
    env: { ...process.env, ...environment },
  });
  const exited = once(child, 'exit').then(() => [{ problem: `${module} has ended` }]);
  return {
    async ask<Answer>(question: object) {
      child.send(question);
      const [answer] = await Promise.race([once(child, 'message'), exited]);
      const { problem } = answer as { problem?: string };
      if (problem !== undefined) throw new Error(problem);
      return answer as Answer;
    },
    async stop() {
      if (child.connected) child.disconnect();
      await exited;
    },
  };
};

/** The other side of it: answers questions, and ends with whoever started it. */
export const answerQuestions = <Question, Answer extends object>(
  answer: (question: Question) => Promise<Answer>,
): void => {
  process.on('message', (question: Question) => {
    answer(question).then(
      (answered) => process.send?.(answered),
      (error: unknown) => process.send?.({ problem: String(error) }),
    );
  });
  process.on('disconnect', () => process.exit());
};
