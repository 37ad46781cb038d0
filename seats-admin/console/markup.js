/** Markup as tagged templates. What is put into a template is text, never HTML. */

import * as packaged from 'htm'
import { h } from 'preact'

/** Its types are those of CommonJS, its file is a module. */
const htm = /** @type {typeof import('htm').default} */ (/** @type {any} */ (packaged.default))
export const html = htm.bind(h)
