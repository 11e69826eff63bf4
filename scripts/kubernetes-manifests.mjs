// What may be wrong in Kubernetes objects although their fields are valid.
import { COPY } from '../infra/kubernetes/administration-pod.mjs';

/** Kinds of volumes that "restricted" allows and that keep the root file system of a node out of reach. */
const VOLUMES = new Set(['configMap', 'secret', 'emptyDir', 'projected', 'persistentVolumeClaim']);

/** Names of variables whose values are secret. */
const SECRET = /(PASSWORD|SECRET|TOKENS?|_KEYS|DATABASE_URL|SMTP_URL)$/;

const containersOf = ({ initContainers = [], containers }) => [...initContainers, ...containers];

const podsIn = (objects) =>
  objects
    .filter(({ kind }) => ['Deployment', 'Job', 'Pod'].includes(kind))
    .map(({ kind, metadata, spec }) => ({
      name: `${kind} ${metadata.name}`,
      service: metadata.name.replace(/-(migration|administration)$/, ''),
      pod: kind === 'Pod' ? spec : spec.template.spec,
    }));

/** Violations of the Pod Security Standard "restricted", and writable root file systems. */
const securityFaults = ({ name, pod }) => {
  const context = pod.securityContext ?? {};
  const isConfined = ({ securityContext = {} }) =>
    securityContext.allowPrivilegeEscalation === false &&
    securityContext.readOnlyRootFilesystem === true &&
    securityContext.privileged !== true &&
    securityContext.capabilities?.drop?.includes('ALL') &&
    securityContext.capabilities.add === undefined;
  const rules = [
    ['runs as root', context.runAsNonRoot === true && context.runAsUser !== 0],
    ['has no seccomp profile', context.seccompProfile?.type === 'RuntimeDefault'],
    ['shares namespaces of the node', !pod.hostNetwork && !pod.hostPID && !pod.hostIPC],
    ['mounts the token of the API', pod.automountServiceAccountToken === false],
    ['has a container that is not confined', containersOf(pod).every(isConfined)],
    [
      'has a volume of a kind that is not allowed',
      (pod.volumes ?? []).every((volume) =>
        Object.keys(volume).every((key) => key === 'name' || VOLUMES.has(key)),
      ),
    ],
  ];
  return rules.filter(([, isRight]) => !isRight).map(([problem]) => `${name} ${problem}`);
};

/** The variables of each service, from its table in docs/configuration.md. */
const documented = (configuration) => {
  const tables = { identity: '## identity', crm: '## CRM' };
  return Object.fromEntries(
    Object.entries(tables).map(([service, heading]) => {
      const [, after = ''] = configuration.split(`${heading}\n`);
      const [table = ''] = after.split('\n## ');
      const rows = [...table.matchAll(/^\| `(\w+)` \| (.*?) \|/gm)];
      const required = rows.filter(([, , value]) => value.includes('**required**'));
      return [
        service,
        {
          all: new Set(rows.map(([, variable]) => variable)),
          required: required.map(([, variable]) => variable),
        },
      ];
    }),
  );
};

const variablesOf = ({ env = [], envFrom = [] }, objects) => [
  ...env,
  ...envFrom.flatMap(({ configMapRef }) => {
    const isReferred = ({ kind, metadata }) =>
      kind === 'ConfigMap' && metadata.name === configMapRef?.name;
    return Object.entries(objects.find(isReferred)?.data ?? {}).map(([name, value]) => ({
      name,
      value,
    }));
  }),
];

const variableFaults = ({ name, service, pod }, objects, known) =>
  containersOf(pod)
    .filter((container) => container.name !== COPY)
    .flatMap((container) => {
      const variables = variablesOf(container, objects);
      const plain = (variable) => variable.replace(/_FILE$/, '');
      const { all, required } = known[service];
      const set = new Set(variables.map((one) => plain(one.name)));
      return [
        ...variables
          .filter((one) => !all.has(one.name) && !all.has(plain(one.name)))
          .map((one) => `${name} sets ${one.name}, which ${service} does not have`),
        ...required.filter((one) => !set.has(one)).map((one) => `${name} does not set ${one}`),
        ...variables
          .filter((one) => SECRET.test(one.name) && one.value !== undefined)
          .map((one) => `${name} contains the value of ${one.name}`),
      ];
    });

const waveOf = ({ metadata }) =>
  Number(metadata.annotations?.['argocd.argoproj.io/sync-wave'] ?? 0);

/** Hooks of Argo CD that start before what their pods refer to exists: the synchronization would wait for ever. */
const hookFaults = (object, objects) => {
  const { kind, metadata, spec } = object;
  const hook = metadata.annotations?.['argocd.argoproj.io/hook'];
  if (hook === undefined) return [];
  const name = `${kind} ${metadata.name}`;
  if (hook !== 'Sync') return [`${name} is a ${hook} hook, and its settings exist from Sync on`];
  const { serviceAccountName } = spec.template.spec;
  const settings = containersOf(spec.template.spec).flatMap(({ envFrom = [] }) =>
    envFrom.map(({ configMapRef }) => `ConfigMap ${configMapRef?.name}`),
  );
  const needed = new Set([`ServiceAccount ${serviceAccountName}`, ...settings]);
  return objects
    .filter(
      (one) => needed.has(`${one.kind} ${one.metadata.name}`) && waveOf(one) >= waveOf(object),
    )
    .map((one) => `${name} does not wait for ${one.kind} ${one.metadata.name}`);
};

const SYSTEM_ROUTES = '/api/crm/system';

/** Ingresses that lead to the system routes of CRM, which are for services inside the cluster. */
const ingressFaults = ({ metadata, spec }) =>
  (spec.rules ?? [])
    .filter(({ http: { paths } }) => {
      const leadsToCrm = ({ backend }) => backend.service.name === 'crm';
      const own = paths.find(({ path }) => path === SYSTEM_ROUTES);
      return own ? leadsToCrm(own) : paths.some(leadsToCrm);
    })
    .map(({ host }) => `Ingress ${metadata.name} publishes ${SYSTEM_ROUTES} at ${host}`);

/**
 * The faults of rendered objects, each as a sentence. `configuration` is the text of docs/configuration.md.
 */
export const manifestFaults = (objects, configuration) => {
  const known = documented(configuration);
  const pods = podsIn(objects);
  if (pods.length === 0) return ['There are no pods'];
  return [
    ...objects
      .filter(({ kind }) => kind === 'Secret')
      .map(({ metadata }) => `Secret ${metadata.name} is part of the manifests`),
    ...pods.flatMap(securityFaults),
    ...pods.flatMap((pod) => variableFaults(pod, objects, known)),
    ...objects.flatMap((object) => hookFaults(object, objects)),
    ...objects.filter(({ kind }) => kind === 'Ingress').flatMap(ingressFaults),
  ];
};
