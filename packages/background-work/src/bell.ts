export interface Bell {
  ring(): void;
  /** Resolves once it has rung since the last wait, or after `ms` milliseconds; tells whether it has rung. */
  wait(ms: number): Promise<boolean>;
}

/** A signal that is never lost: one that arrives while nothing waits ends the next wait immediately. */
export const createBell = (): Bell => {
  let rung = false;
  let answer = (): void => undefined;
  return {
    ring() {
      rung = true;
      answer();
    },
    async wait(ms) {
      if (!rung) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms);
          answer = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      const hasRung = rung;
      rung = false;
      return hasRung;
    },
  };
};
