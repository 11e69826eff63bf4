export interface Bell {
  ring(): void;
  /** Resolves when it has rung since the last wait ended, at the latest after `ms` milliseconds. */
  wait(ms: number): Promise<void>;
}

/** A wake-up that is never lost: one that comes while nobody waits ends the next wait at once. */
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
      rung = false;
    },
  };
};
