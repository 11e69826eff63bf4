import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../scripts/bootstrap.mjs';

/** The bash commands of docs/deployment.md by section, in order. */
export const sections = () =>
  readFileSync(join(root, 'docs/deployment.md'), 'utf8')
    .split(/^## /m)
    .map((text) => ({
      heading: text.slice(0, text.indexOf('\n')),
      code: [...text.matchAll(/^```bash\n([\s\S]*?)^```$/gm)].map(([, code]) => code).join('\n'),
    }))
    .filter(({ code }) => code !== '');
