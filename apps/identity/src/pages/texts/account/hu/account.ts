import { frame } from './frame.ts';
import { overview } from './overview.ts';

export const account = { frame, overview };
