import { readBounded } from './read-bounded.ts';

const endless = () => {
  const state = { chunks: 0, isCancelled: false };
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      state.chunks += 1;
      controller.enqueue(new Uint8Array(10));
    },
    cancel() {
      state.isCancelled = true;
    },
  });
  return { response: new Response(body), state };
};

test('A body of exactly the maximum size is read completely', async () => {
  expect((await readBounded(new Response('Ágnes'), 6)).toString()).toBe('Ágnes');
  await expect(readBounded(new Response('Ágnes'), 5)).rejects.toThrow('larger than 5 bytes');
});

test('A missing body is read as an empty one', async () => {
  expect(await readBounded(new Response(null), 0)).toHaveLength(0);
});

test('Reading stops when a body is too large', async () => {
  const { response, state } = endless();
  await expect(readBounded(response, 25)).rejects.toThrow('larger than 25 bytes');
  expect(state.isCancelled).toBe(true);
  expect(state.chunks).toBeLessThan(6);
});
