import { existsSync, readFileSync, rmSync } from 'node:fs';

/**
 * The file in which the tests of a run on Citus note what they have checked: in each line, how many statements accessed
 * shards, and how many of them accessed several.
 */
export const shardReport = (): string => `${process.env.TEST_CITUS_REPORT}`;

/** Prints the sums, and deletes the file. */
export const printShardReport = (): void => {
  const path = shardReport();
  // No test has started CRM.
  if (!existsSync(path)) return;
  let statements = 0;
  let wide = 0;
  for (const line of readFileSync(path, 'utf8').trim().split('\n')) {
    const [more, wider] = JSON.parse(line) as [number, number];
    statements += more;
    wide += wider;
  }
  rmSync(path);
  console.log(`${statements} statements accessed shards; ${wide} of them accessed more than one.`);
};
