import { missingRestrictions } from './runtime.mjs';

const container = (service, { User = '65532:65532', ...changed } = {}) => ({
  Config: { User, Labels: { 'com.docker.compose.service': service } },
  HostConfig: {
    SecurityOpt: ['no-new-privileges:true'],
    Privileged: false,
    Memory: 1,
    ReadonlyRootfs: true,
    CapDrop: ['ALL'],
    ...changed,
  },
});

test('A confined service has all restrictions, and a database needs fewer', () => {
  expect(missingRestrictions(container('identity'))).toEqual([]);
  const database = container('postgres', { User: '', ReadonlyRootfs: false, CapDrop: null });
  expect(missingRestrictions(database)).toEqual([]);
});

test.each([
  ['no new privileges', { SecurityOpt: null }],
  ['no privileged mode', { Privileged: true }],
  ['a limit of memory', { Memory: 0 }],
  ['a read-only file system', { ReadonlyRootfs: false }],
  ['no capability', { CapDrop: null }],
  ['an account without rights', { User: '0' }],
])('A service without %s is found', (restriction, changed) => {
  expect(missingRestrictions(container('crm', changed))).toEqual([restriction]);
});
