import type { ReauthenticationService } from '../../features/reauthentication/reauthentication.service.ts';
import type { Origin } from '../../origin/origin.ts';
import type { UserCaller } from '../../tokens/caller.ts';

/**
 * A form with a password field counts as an authentication, so the user is not asked again. 422 on a wrong
 * password, 429 after too many.
 */
export const authenticateByForm = async (
  reauthentication: Pick<ReauthenticationService, 'isRecent' | 'reauthenticate'>,
  user: UserCaller,
  password: string,
  origin: Origin,
): Promise<void> => {
  if (await reauthentication.isRecent(user)) return;
  await reauthentication.reauthenticate(user, password, origin);
};
