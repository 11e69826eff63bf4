import { readFileSync } from 'node:fs';

/** The version in a package.json. Throws if the file cannot be read. */
export const packageVersion = (packageJson: URL): string => {
  const { version }: { version: string } = JSON.parse(readFileSync(packageJson, 'utf8'));
  return version;
};
