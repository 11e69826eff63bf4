// Preloaded into the services under test (`node --import`): CLOCK_OFFSET_MS moves the clock of the process, and SIGUSR2
// blocks its event loop for BLOCK_MS.
const offset = Number(process.env.CLOCK_OFFSET_MS ?? 0);

if (offset !== 0) {
  const Real = Date;
  const now = (): number => Real.now() + offset;
  globalThis.Date = new Proxy(Real, {
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
    apply: () => new Real(now()).toString(),
    get: (target, key) => (key === 'now' ? now : Reflect.get(target, key)),
  });
}

process.on('SIGUSR2', () => {
  const nothing = new Int32Array(new SharedArrayBuffer(4));
  Atomics.wait(nothing, 0, 0, Number(process.env.BLOCK_MS ?? 10_000));
});
