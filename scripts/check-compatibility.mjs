// `npm run check:compatibility`: fails on changes of the OpenAPI and AsyncAPI documents that break clients or consumers
// of the last release. `-- --save` makes the present documents those of the last release.
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from './bootstrap.mjs';
import { baselineOf, breaks, documents, faults, folder, read } from './compatibility.mjs';
import { plantedBreaks, plantedExtensions } from './compatibility-canaries.mjs';
import { isProgram } from './program.mjs';

const accepted = join(folder, 'accepted.json');

/** The breaks after planted changes of a document. */
const breaksAfter = (document, changes) => {
  const before = read(join(root, document));
  const after = structuredClone(before);
  for (const change of changes) {
    const unchanged = JSON.stringify(after);
    change(after);
    if (JSON.stringify(after) === unchanged)
      throw new Error(`${document}: ${change} has no effect.`);
  }
  return faults(breaks(document, before, after), []);
};

/** Throws if a planted break is not found at its place, or a planted extension is reported. */
const verifyDetection = () => {
  for (const [document, planted] of Object.entries(plantedBreaks)) {
    const found = breaksAfter(
      document,
      planted.map(({ change }) => change),
    );
    for (const { expected } of planted) {
      if (found.some((fault) => expected.every((part) => fault.includes(part)))) continue;
      throw new Error(`${document}: not found: ${expected.join(', ')}`);
    }
  }
  for (const [document, changes] of Object.entries(plantedExtensions)) {
    const [fault] = breaksAfter(document, changes);
    if (fault) throw new Error(`An extension is reported as a break: ${fault}`);
  }
};

const save = () => {
  for (const path of documents) {
    mkdirSync(dirname(baselineOf(path)), { recursive: true });
    cpSync(join(root, path), baselineOf(path));
  }
  writeFileSync(accepted, '[]\n');
};

/** Whether no document breaks clients or consumers of the last release, but where that is accepted. */
export const compatible = () => {
  verifyDetection();
  const found = documents.flatMap((path) =>
    breaks(path, read(baselineOf(path)), read(join(root, path))),
  );
  const problems = faults(found, read(accepted));
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) console.error('See "Breaking changes" in CONTRIBUTING.md.');
  return problems.length === 0;
};

if (isProgram(import.meta.url)) {
  if (process.argv.includes('--save')) save();
  else process.exitCode = compatible() ? 0 : 1;
}
