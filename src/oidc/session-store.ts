/** Where sign-ins live, as this room sees it. The store's own words: `seats-admin/store/session-store.ts`. */

export type {
  HandleProof,
  Renewal,
  Rotation,
  SessionChanged,
  SessionReading,
  SessionRecord,
  SessionStore,
  StoredSession,
} from '../../seats-admin/index.ts'
