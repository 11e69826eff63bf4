import { readBounded } from './read-bounded.ts';

const endless = () => {
  const left = { chunks: 0, isCancelled: false };
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      left.chunks += 1;
      controller.enqueue(new Uint8Array(10));
    },
    cancel() {
      left.isCancelled = true;
    },
  });
  return { answer: new Response(body), left };
};

test('a body is given whole, up to its last byte that fits', async () => {
  expect((await readBounded(new Response('Ágnes'), 6)).toString()).toBe('Ágnes');
  await expect(readBounded(new Response('Ágnes'), 5)).rejects.toThrow('larger than 5 bytes');
});

test('no body is an empty one', async () => {
  expect(await readBounded(new Response(null), 0)).toHaveLength(0);
});

test('what is too large is not read on', async () => {
  const { answer, left } = endless();
  await expect(readBounded(answer, 25)).rejects.toThrow('larger than 25 bytes');
  expect(left.isCancelled).toBe(true);
  expect(left.chunks).toBeLessThan(6);
});
