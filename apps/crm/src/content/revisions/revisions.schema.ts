import {
  bool,
  described,
  int,
  list,
  named,
  nullable,
  oneOf,
  optional,
  rawText,
  shape,
  time,
  uuid,
} from '@tessera/fields';
import { revisedFields } from './revisions.repository.ts';
import { MAX_LINES } from './text-diff.ts';

const revisionNumber = int(1, Number.MAX_SAFE_INTEGER);

const number = described(
  revisionNumber,
  'Revisions of a record are numbered without gaps; 1 is what it was created with.',
);

const revisionFields = {
  number,
  version: described(int(1, Number.MAX_SAFE_INTEGER), 'The version of the record that it made'),
  is_current: described(bool(), 'Whether it is the latest one'),
  changed_fields: described(
    list(oneOf(...revisedFields)),
    'The fields that differ from the revision before',
  ),
  actor_type: oneOf('user', 'service_account', 'client', 'bot', 'system'),
  user_id: described(nullable(uuid()), 'The author, if it is a user'),
  client_id: described(nullable(rawText(200)), 'The OAuth client that the author used'),
  impersonator_id: described(nullable(rawText(200)), 'The administrator who acted as the author'),
  created_at: time(),
};

/** A revision without its text. */
export const RevisionSummary = named('RevisionSummary', shape(revisionFields));

const anyText = rawText(Number.MAX_SAFE_INTEGER, 0);
const many = { max: Number.MAX_SAFE_INTEGER };
const optionalText = nullable(anyText);

export const Revision = named(
  'Revision',
  shape({
    ...revisionFields,
    title: anyText,
    slug: anyText,
    summary: optionalText,
    body: described(anyText, 'Markdown'),
    tags: list(anyText, many),
  }),
);

const lineNumber = int(0, Number.MAX_SAFE_INTEGER);

const Segment = named('DiffSegment', shape({ text: anyText, is_changed: bool() }));

const DiffLine = named(
  'DiffLine',
  shape({
    type: oneOf('unchanged', 'removed', 'added'),
    text: anyText,
    segments: described(
      nullable(list(Segment, many)),
      'The words that differ from the line that was replaced; null if there is none, or if they were not compared.',
    ),
  }),
);

const Hunk = named(
  'DiffHunk',
  shape({
    old_start: described(lineNumber, 'The number of its first line in the earlier text'),
    old_lines: lineNumber,
    new_start: lineNumber,
    new_lines: lineNumber,
    lines: list(DiffLine, many),
  }),
);

const changed = 'Null if it is the same.';

export const RevisionDiff = named(
  'RevisionDiff',
  shape({
    from: number,
    to: number,
    title: described(nullable(shape({ from: anyText, to: anyText })), changed),
    slug: described(nullable(shape({ from: anyText, to: anyText })), changed),
    summary: described(nullable(shape({ from: optionalText, to: optionalText })), changed),
    tags: described(
      nullable(shape({ added: list(anyText, many), removed: list(anyText, many) })),
      changed,
    ),
    body: described(
      nullable(
        shape({
          hunks: described(
            list(Hunk, many),
            `The changed lines with up to three lines around them; the first ${MAX_LINES} lines`,
          ),
          unified: described(anyText, 'The same in the unified format'),
          is_minimal: described(
            bool(),
            'False if the texts differ too much to be compared: all lines are then replaced.',
          ),
          is_complete: described(
            bool(),
            'False if `hunks` would have more lines: the others are then only in `unified`.',
          ),
        }),
      ),
      changed,
    ),
  }),
);

/** The revisions to compare. */
export const DiffQuery = shape({
  from: described(optional(revisionNumber), 'Default: the revision before the other one'),
  to: described(optional(revisionNumber), 'Default: the latest revision'),
});

export const RestoreInput = named(
  'RevisionRestoreInput',
  shape({
    fields: described(
      optional(list(oneOf(...revisedFields), { min: 1, unique: true })),
      'The fields to restore. Default: all of them.',
    ),
  }),
);
