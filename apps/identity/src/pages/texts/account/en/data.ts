/** The page of one's own data: download, and deletion of the account. */
export const data = {
  title: 'Your data',
  lead: 'Download what we store about you, or delete your account.',
  /** On every account page while the account waits for its deletion. */
  banner: (moment: string) => `Your account will be deleted on ${moment}.`,
  keep: 'Keep my account',
  download: {
    title: 'Download your data',
    summary: 'Get a copy of everything we store about you, as one file.',
    open: 'Download your data',
    lead: 'You get one file in JSON format, which other services and programs can read.',
    contents:
      'It contains your profile, organizations and roles, devices, sessions, connected apps, security settings, and your whole activity.',
    without:
      'It does not contain passwords or other secrets, or personal data of other people. Your organizations have their own records, which you can request from them.',
    care: 'The file is personal. Save it where only you can open it.',
    submit: 'Download',
  },
  deletion: {
    title: 'Delete your account',
    summary: 'Delete your account and the personal data in it for good.',
    open: 'Delete your account',
    untilThen: 'Until then you can use it as usual and change your mind at any time.',
    back: 'Back to your data',
    confirm: {
      title: 'Delete your account?',
      lead: (moment: string) => `We will delete your account on ${moment}. You will lose:`,
      losses: [
        'Your profile, your sign-in, and your security settings',
        'Your membership in all organizations',
        'Your devices, sessions, connected apps, and activity',
      ],
      untilThen:
        'Until then your account works as usual, and you can keep it at any time. After that, it cannot be restored. Organizations keep what you created in them, without your name.',
      downloadFirst: 'Download your data first',
      submit: 'Delete my account',
    },
    blocked: {
      title: 'You cannot delete your account yet',
      lead: 'Nobody else could take over from you:',
      lastOwner:
        'You are the last owner of this organization. Make another member an owner, or ask the operator of this service to delete the organization.',
      lastAdministrator:
        'You are the last administrator of this service. Make another person an administrator.',
      afterwards: 'Then come back to this page.',
    },
  },
};

export type DataTexts = typeof data;
