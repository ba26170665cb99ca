/** Where the next message is written; the keyboard is brought here. */
export const COMPOSER_ID = 'chat-message';
