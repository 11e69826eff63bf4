import type { Outcome, OutcomeKind } from './load/outcome.ts';
import { longestRecovery } from './recovery.ts';

const at = (endedAt: number, kind: OutcomeKind): Outcome => ({
  kind,
  operation: 'read',
  sentAt: endedAt,
  endedAt,
  detail: '',
});

test('A recovery lasts from the end of the fault to the last failure before the next one', () => {
  const outcomes = [at(90, 'lost'), at(130, 'refused'), at(250, 'ok'), at(310, 'wrong')];
  expect(longestRecovery([100, 300], [...outcomes, at(4400, 'ok')])).toBe(30);
  expect(longestRecovery([300], [...outcomes, at(4400, 'ok')])).toBe(10);
  expect(longestRecovery([400], [...outcomes, at(4400, 'ok')])).toBe(0);
});

test('Without four seconds of 2xx at the end there is no recovery', () => {
  expect(longestRecovery([100], [at(200, 'refused'), at(4100, 'ok')])).toBeUndefined();
  expect(longestRecovery([100], [at(200, 'refused'), at(4200, 'ok')])).toBe(100);
  expect(longestRecovery([100], [])).toBeUndefined();
});
