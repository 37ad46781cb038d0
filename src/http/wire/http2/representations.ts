/** Representations of fields (RFC 7541, section 6): the highest bits of their first byte. */

export const INDEXED = 0x80
export const LITERAL = 0x00
export const NEVER_INDEXED = 0x10
export const SIZE_UPDATE = 0x20

/** Fields that hold credentials, which no intermediary may index. In lower case. */
export const CREDENTIALS = ['authorization', 'cookie', 'proxy-authorization', 'set-cookie', 'x-api-key']

/** `{"` in base64url: a JWT, in whatever field, is a credential. */
export const JSON_OBJECT = 'eyJ'
