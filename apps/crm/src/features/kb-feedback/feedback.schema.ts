import {
  bool,
  described,
  named,
  nullable,
  optional,
  reference,
  shape,
  text,
  time,
  uuid,
} from '@tessera/fields';

const isHelpful = described(bool(), 'Whether the article helped');
const feedbackText = described(nullable(text(2000)), 'What was missing or good');

export const FeedbackInput = named(
  'KbArticleFeedbackInput',
  shape({ is_helpful: isHelpful, text: optional(feedbackText) }),
);

export const Feedback = named(
  'KbArticleFeedback',
  shape({
    id: uuid(),
    article_id: reference('kb-articles'),
    user_id: described(nullable(uuid()), 'Null for an anonymous vote'),
    is_helpful: isHelpful,
    text: feedbackText,
    created_at: time(),
    updated_at: time(),
  }),
);
