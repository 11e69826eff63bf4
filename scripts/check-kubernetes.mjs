// Checks infra/kubernetes: each overlay can be rendered, has only fields of the Kubernetes API, runs under the Pod
// Security Standard "restricted", contains no secrets, and sets variables that the services have.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { administrationPod } from '../infra/kubernetes/administration-pod.mjs';
import { root } from './bootstrap.mjs';
import { goProgram } from './go-program.mjs';
import { manifestFaults } from './kubernetes-manifests.mjs';

const folder = join(root, 'infra', 'kubernetes');
const OVERLAYS = ['base', 'overlays/staging', 'overlays/production'];
const KUSTOMIZE = 'v5.6.0';

const command = (name, args, options = {}) =>
  spawnSync(name, args, { cwd: root, encoding: 'utf8', ...options });

/** The path of kustomize: that of this machine, or one that Go builds once. */
const kustomize = () => {
  if (command('kustomize', ['version']).status === 0) return 'kustomize';
  return goProgram('sigs.k8s.io/kustomize/kustomize/v5', KUSTOMIZE);
};

/** The objects of an overlay. */
const rendered = (program, overlay) => {
  const { status, stdout, stderr } = command(program, ['build', join(folder, overlay)]);
  if (status !== 0) throw new Error(`${overlay} cannot be rendered: ${stderr}`);
  return parseAllDocuments(stdout).map((document) => document.toJS());
};

const packageOf = (apiVersion) =>
  apiVersion.startsWith('monitoring.coreos.com/')
    ? '@kubernetes-models/prometheus-operator'
    : 'kubernetes-models';

/** What TypeScript finds wrong in objects: unknown and missing fields, and values of another type. */
const typeFaults = (objects) => {
  const directory = mkdtempSync(join(root, 'scripts', 'manifests-'));
  try {
    const lines = objects.map(
      (object, n) =>
        `const object${n}: import('${packageOf(object.apiVersion)}/${object.apiVersion}').I${object.kind} =
          ${JSON.stringify(object)}; // ${object.kind} ${object.metadata.name}`,
    );
    const file = join(directory, 'manifests.ts');
    writeFileSync(file, `${lines.join('\n')}\nexport {};\n`);
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--ignoreConfig', '--types', ''];
    const { stdout } = command(process.execPath, [
      'node_modules/typescript/bin/tsc',
      ...options,
      '--module',
      'nodenext',
      '--moduleResolution',
      'nodenext',
      file,
    ]);
    return stdout.split('\n').filter((line) => line.includes('error TS'));
  } finally {
    rmSync(directory, { recursive: true });
  }
};

/** The objects of an overlay, and the pods for administration that are made of its deployments. */
const withAdministration = (objects) => [
  ...objects,
  ...objects.filter(({ kind }) => kind === 'Deployment').map(administrationPod),
];

/** Whether all overlays are valid. */
export const kubernetes = () => {
  const program = kustomize();
  const configuration = readFileSync(join(root, 'docs', 'configuration.md'), 'utf8');
  const overlays = OVERLAYS.map((overlay) => [
    overlay,
    withAdministration(rendered(program, overlay)),
  ]);
  const [, objects] = overlays[0];
  const deployment = structuredClone(objects.find(({ kind }) => kind === 'Deployment'));
  deployment.spec.template.spec.containers[0].readynessProbe = {};
  if (typeFaults([deployment]).length !== 1) {
    throw new Error('A planted misspelled field was not found.');
  }
  const faults = [
    ...typeFaults(overlays.flatMap(([, all]) => all)),
    ...overlays.flatMap(([overlay, all]) =>
      manifestFaults(all, configuration).map((fault) => `${overlay}: ${fault}`),
    ),
  ];
  for (const fault of faults) console.error(fault);
  return faults.length === 0;
};
