import { Slices } from './slices.ts';

const { jest } = import.meta;

afterEach(() => {
  jest.restoreAllMocks();
});

/** How often the event loop has had a turn during work whose steps take this long by the clock. */
const turnsDuring = async (steps: number, milliseconds: number): Promise<number> => {
  let now = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  let turns = 0;
  let turn = setImmediate(function count() {
    turns += 1;
    turn = setImmediate(count);
  });
  try {
    const slices = new Slices();
    for (let step = 0; step < steps; step += 1) {
      now += milliseconds;
      await slices.next();
    }
    return turns;
  } finally {
    clearImmediate(turn);
  }
};

test('Between the slices of long work, the event loop has a turn', async () => {
  expect(await turnsDuring(20, 6)).toBe(20);
  expect(await turnsDuring(20, 3)).toBe(10);
});

test('Short work is not interrupted', async () => {
  expect(await turnsDuring(4, 1)).toBe(0);
});
