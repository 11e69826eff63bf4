import type { Kind } from '../../records/kind.ts';
import { bot } from '../chat/bots.kind.ts';
import { communicationLog } from '../communication-logs/communication-logs.kind.ts';
import { company } from '../companies/companies.kind.ts';
import { contact } from '../contacts/contacts.kind.ts';
import { customField } from '../custom-fields/custom-fields.kind.ts';

/**
 * The kinds whose records are part of events. Others may be private: their events only say which record changed. Imports
 * are left out because their records have no content of their own.
 */
export const shownKinds = [
  bot,
  communicationLog,
  company,
  contact,
  customField,
] as unknown as readonly Kind[];
