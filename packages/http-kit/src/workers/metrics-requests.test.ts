import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { WorkerMetrics } from './messages.ts';
import { MetricsRequests } from './metrics-requests.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

const metrics = (): WorkerMetrics => [{ name: 'requests' } as WorkerMetrics[number]];

const make = () => {
  const ids: number[] = [];
  return { ids, requests: new MetricsRequests((id) => void ids.push(id)) };
};

describe('Requests for the metrics of a worker', () => {
  test('are answered by their ids', async () => {
    const { ids, requests } = make();
    const [first, second] = [requests.ask(), requests.ask()];
    const [answerOfFirst, answerOfSecond] = [metrics(), metrics()];
    requests.answer(ids[1] ?? 0, answerOfSecond);
    requests.answer(ids[0] ?? 0, answerOfFirst);
    expect(await first).toBe(answerOfFirst);
    expect(await second).toBe(answerOfSecond);
  });

  test('leave nothing in memory once they are answered', async () => {
    const { ids, requests } = make();
    const answered = async (): Promise<WeakRef<WorkerMetrics>> => {
      const asked = requests.ask();
      requests.answer(ids.at(-1) ?? 0, metrics());
      return new WeakRef(await asked);
    };
    const answers: WeakRef<WorkerMetrics>[] = [];
    for (let count = 0; count < 20; count += 1) answers.push(await answered());
    const left = (): number => answers.filter((answer) => answer.deref()).length;
    // An object that a WeakRef has returned is kept until the next turn.
    for (let turns = 0; turns < 20 && left() > 0; turns += 1) {
      await turn();
      collectGarbage();
    }
    expect(left()).toBe(0);
    requests.end();
  });

  test('are all answered when the worker ends, and later ones immediately', async () => {
    const { ids, requests } = make();
    const waiting = [requests.ask(), requests.ask(), requests.ask()];
    requests.end();
    expect(await Promise.all(waiting)).toEqual([[], [], []]);
    expect(await requests.ask()).toEqual([]);
    expect(ids.length).toBe(3);
  });

  test('are answered with nothing if the worker does not answer', async () => {
    const { ids, requests } = make();
    expect(await requests.ask()).toEqual([]);
    // An answer that is late has no effect.
    requests.answer(ids[0] ?? 0, metrics());
  });
});
