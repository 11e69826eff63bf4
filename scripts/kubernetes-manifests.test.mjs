import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { administrationPod } from '../infra/kubernetes/administration-pod.mjs';
import { root } from './bootstrap.mjs';
import { manifestFaults } from './kubernetes-manifests.mjs';

const configuration = readFileSync(join(root, 'docs', 'configuration.md'), 'utf8');

const settings = (data) => ({ kind: 'ConfigMap', metadata: { name: 'identity' }, data });
const deployment = (change = () => undefined) => {
  const container = {
    envFrom: [{ configMapRef: { name: 'identity' } }],
    env: [
      { name: 'DATABASE_URL_FILE', value: '/run/secrets/database-url' },
      { name: 'KEY_ENCRYPTION_KEYS_FILE', value: '/run/secrets/keys' },
    ],
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
  };
  const pod = {
    automountServiceAccountToken: false,
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [container],
    volumes: [{ name: 'tmp', emptyDir: {} }],
  };
  change(pod, container);
  return { kind: 'Deployment', metadata: { name: 'identity' }, spec: { template: { spec: pod } } };
};
const faults = (change, data = { ISSUER: 'https://id.example.com' }) =>
  manifestFaults([settings(data), deployment(change)], configuration);

test('Confined pods with known settings have no faults', () => {
  expect(faults()).toEqual([]);
});

test.each([
  ['runs as root', (pod) => delete pod.securityContext.runAsNonRoot],
  ['has no seccomp profile', (pod) => delete pod.securityContext.seccompProfile],
  [
    'shares namespaces of the node',
    (pod) => {
      pod.hostNetwork = true;
    },
  ],
  ['mounts the token of the API', (pod) => delete pod.automountServiceAccountToken],
  [
    'has a container that is not confined',
    (_, container) => delete container.securityContext.capabilities,
  ],
  [
    'has a volume of a kind that is not allowed',
    (pod) => pod.volumes.push({ name: 'host', hostPath: { path: '/' } }),
  ],
  [
    'contains the value of KEY_ENCRYPTION_KEYS',
    (_, container) => container.env.push({ name: 'KEY_ENCRYPTION_KEYS', value: 'a:b' }),
  ],
  [
    'sets ISSUERS, which identity does not have',
    (_, container) => container.env.push({ name: 'ISSUERS', value: 'x' }),
  ],
])('A pod that %s is found', (problem, change) => {
  expect(faults(change)).toEqual([`Deployment identity ${problem}`]);
});

test('A required variable that is missing is found', () => {
  expect(faults(undefined, {})).toEqual(['Deployment identity does not set ISSUER']);
});

test('Containers that run before the service are checked like it', () => {
  const withInit = (change = () => undefined) =>
    faults((pod, container) => {
      const init = structuredClone(container);
      change(init);
      pod.initContainers = [init];
    });
  expect(withInit()).toEqual([]);
  expect(withInit((init) => delete init.envFrom)).toEqual([
    'Deployment identity does not set ISSUER',
  ]);
  expect(withInit((init) => delete init.securityContext.readOnlyRootFilesystem)).toEqual([
    'Deployment identity has a container that is not confined',
  ]);
});

test('The pod for administration has the settings of the deployment, runs no service, and is checked like it', () => {
  const service = deployment((pod, container) => {
    container.name = 'identity';
    container.volumeMounts = [{ name: 'tmp', mountPath: '/tmp' }];
    container.readinessProbe = { httpGet: { path: '/readyz', port: 'http' } };
    pod.initContainers = [structuredClone(container)];
    pod.tolerations = [{ key: 'dedicated' }];
  });
  const pod = administrationPod(service);
  expect(pod.metadata.labels['app.kubernetes.io/component']).toBe('administration');
  expect(pod.spec).toMatchObject({ restartPolicy: 'Never', tolerations: [{ key: 'dedicated' }] });
  expect(pod.spec.initContainers).toBeUndefined();
  const [own, copy] = pod.spec.containers;
  expect(own).not.toHaveProperty('readinessProbe');
  for (const { volumeMounts } of [own, copy]) {
    expect(volumeMounts).toContainEqual({ name: 'exports', mountPath: '/exports' });
  }
  const known = settings({ ISSUER: 'https://id.example.com' });
  expect(manifestFaults([known, pod], configuration)).toEqual([]);
  expect(manifestFaults([settings({}), pod], configuration)).toEqual([
    'Pod identity-administration does not set ISSUER',
  ]);
});

test('A secret among the manifests is found', () => {
  const secret = { kind: 'Secret', metadata: { name: 'identity' } };
  const objects = [settings({ ISSUER: 'https://id.example.com' }), deployment(), secret];
  expect(manifestFaults(objects, configuration)).toEqual([
    'Secret identity is part of the manifests',
  ]);
});

const ARGO = 'argocd.argoproj.io';
const migration = (hook, wave) => {
  const { spec } = deployment();
  spec.template.spec.serviceAccountName = 'identity';
  const annotations = { [`${ARGO}/hook`]: hook, [`${ARGO}/sync-wave`]: wave };
  return { kind: 'Job', metadata: { name: 'identity-migration', annotations }, spec };
};
const inWave = (object, wave) => {
  object.metadata.annotations = { [`${ARGO}/sync-wave`]: wave };
  return object;
};

test.each([
  ['Sync', '-1', '-2', []],
  ['PreSync', '-1', '-2', ['is a PreSync hook, and its settings exist from Sync on']],
  ['Sync', '-1', '-1', ['ConfigMap identity', 'ServiceAccount identity']],
])(
  'A migration in %s and wave %s is compared with its settings in wave %s',
  (hook, wave, settingsWave, problems) => {
    const objects = [
      inWave(settings({ ISSUER: 'https://id.example.com' }), settingsWave),
      inWave({ kind: 'ServiceAccount', metadata: { name: 'identity' } }, settingsWave),
      migration(hook, wave),
    ];
    expect(manifestFaults(objects, configuration)).toEqual(
      problems.map((problem) =>
        problem.startsWith('is')
          ? `Job identity-migration ${problem}`
          : `Job identity-migration does not wait for ${problem}`,
      ),
    );
  },
);

test('An Ingress that publishes the system routes of CRM is found', () => {
  const to = (path, name) => ({ path, backend: { service: { name } } });
  const ingress = (...paths) => ({
    kind: 'Ingress',
    metadata: { name: 'tessera' },
    spec: { rules: [{ host: 'crm.example.com', http: { paths } }] },
  });
  const found = (...paths) =>
    manifestFaults(
      [settings({ ISSUER: 'https://id.example.com' }), deployment(), ingress(...paths)],
      configuration,
    );
  const problem = 'Ingress tessera publishes /api/crm/system at crm.example.com';
  expect(found(to('/api/crm/system', 'not-public'), to('/', 'crm'))).toEqual([]);
  expect(found(to('/', 'crm'))).toEqual([problem]);
  expect(found(to('/api/crm/system', 'crm'), to('/', 'crm'))).toEqual([problem]);
  expect(found(to('/', 'identity'))).toEqual([]);
});
