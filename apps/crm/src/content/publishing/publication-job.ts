import { defineJob } from '@tessera/background-work/jobs';
import { shape, uuid } from '@tessera/fields';

/** About three days: if identity does not answer that long, the publication is dropped. */
export const PUBLICATION_ATTEMPTS = 440;

/** Publishes a record at the time for which this was scheduled, unless it was scheduled anew or dropped since. */
export const publicationJob = defineJob(
  'scheduled_publication',
  shape({ tenant_id: uuid(), content_id: uuid(), schedule_id: uuid() }),
  { retries: PUBLICATION_ATTEMPTS, backoffSeconds: 2, maxBackoffSeconds: 600 },
);
