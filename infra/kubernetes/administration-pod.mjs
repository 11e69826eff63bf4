// Turns a deployment on standard input into a pod that waits for administration commands, with the image, the settings and
// the secrets of the deployment, and writes it to standard output:
//
//   kubectl get deployment crm --output=json | node infra/kubernetes/administration-pod.mjs | kubectl apply --filename=-
//
// Unlike the pods of the service, it runs no migrations before a command does, and has a folder for exports. The images
// have no shell, so a second container has the `tar` that `kubectl cp` needs.
import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

/** The name of the container that copies files, which has no settings. */
export const COPY = 'copy';
const COPY_IMAGE = 'busybox:1.37.0';
const EXPORTS = { name: 'exports', mountPath: '/exports' };
/** A day: a pod that was forgotten ends, and with it the copies of personal data. */
const LIFETIME_SECONDS = 86_400;

/** The pod for the commands of a deployment. What its pods have besides, such as tolerations, it has as well. */
export const administrationPod = ({ metadata, spec }) => {
  const { name, namespace } = metadata;
  const { initContainers, topologySpreadConstraints, containers, volumes, ...pod } =
    spec.template.spec;
  const { ports, startupProbe, readinessProbe, livenessProbe, lifecycle, ...container } =
    containers.find((one) => one.name === name);
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `${name}-administration`,
      namespace,
      // Another component than the service, whose Service must not send requests to this pod.
      labels: { 'app.kubernetes.io/name': name, 'app.kubernetes.io/component': 'administration' },
    },
    spec: {
      ...pod,
      restartPolicy: 'Never',
      activeDeadlineSeconds: LIFETIME_SECONDS,
      containers: [
        {
          ...container,
          args: ['-e', 'setInterval(() => {}, 60_000)'],
          volumeMounts: [...container.volumeMounts, EXPORTS],
        },
        {
          name: COPY,
          image: COPY_IMAGE,
          command: ['sleep', `${LIFETIME_SECONDS}`],
          resources: { requests: { cpu: '10m', memory: '16Mi' }, limits: { memory: '64Mi' } },
          securityContext: container.securityContext,
          volumeMounts: [EXPORTS],
        },
      ],
      volumes: [...volumes, { name: EXPORTS.name, emptyDir: {} }],
    },
  };
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.stdout.write(JSON.stringify(administrationPod(await json(process.stdin))));
}
