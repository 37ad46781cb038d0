/** Starts the console. */

import { render } from 'preact'
import { html } from './markup.js'
import { Console } from './shell.js'

const root = document.getElementById('console')
if (root !== null) {
  root.textContent = ''
  render(html`<${Console} />`, root)
}
