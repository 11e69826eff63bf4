import { BACKGROUND, type Noticed, p99Of, REQUESTS } from './quiet.ts';
import type { NoisyResult } from './run.ts';

const PROBES = [...REQUESTS, ...BACKGROUND];

const number = (value: number): string => {
  if (Number.isNaN(value)) return '–';
  return value < 10 ? value.toFixed(1) : `${Math.round(value)}`;
};

const header = [
  'noise of one tenant',
  ...PROBES,
  'errors',
  'identity MiB',
  'CRM MiB',
  'noise answered with',
  'goals',
];

const cellsOf = ({ title, ratios, noticed, memory, noise, missed }: NoisyResult): string[] => [
  title,
  ...PROBES.map((probe) => number(ratios[probe])),
  `${noticed.errors.length}`,
  `${Math.round(memory.identity)}`,
  `${Math.round(memory.crm)}`,
  Object.entries(noise)
    .map(([status, count]) => `${count} × ${status}`)
    .join(', '),
  missed.length === 0 ? 'met' : 'missed',
];

const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

/** The table in Markdown: the quiet run in milliseconds, and each noise as ratios to it. */
export const noisyTable = (quiet: Noticed, results: readonly NoisyResult[]): string => {
  const idle = p99Of(quiet);
  const ofQuiet = [
    'none: p99 in ms',
    ...PROBES.map((probe) => number(idle[probe])),
    `${quiet.errors.length}`,
    ...Array.from({ length: header.length - PROBES.length - 2 }, () => ''),
  ];
  return [
    line(header),
    line(header.map((_, at) => (at === 0 || at > PROBES.length + 3 ? '---' : '---:'))),
    line(ofQuiet),
    ...results.map((result) => line(cellsOf(result))),
  ].join('\n');
};
