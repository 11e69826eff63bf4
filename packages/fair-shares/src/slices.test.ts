import { Slices } from './slices.ts';

test('Between the steps of long work, the event loop has turns, and short work has none', async () => {
  let turns = 0;
  let isWorking = true;
  const turn = (): void => {
    turns += 1;
    if (isWorking) setImmediate(turn);
  };
  setImmediate(turn);
  const work = async (steps: number, milliseconds: number): Promise<number> => {
    const before = turns;
    const slices = new Slices();
    for (let step = 0; step < steps; step += 1) {
      const end = performance.now() + milliseconds;
      while (performance.now() < end);
      await slices.next();
    }
    return turns - before;
  };
  expect(await work(3, 0)).toBe(0);
  expect(await work(20, 6)).toBeGreaterThanOrEqual(20);
  isWorking = false;
});
