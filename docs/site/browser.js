/** The script of every page. */

import './search.js'

// The list of pages is longer than the window.
const list = document.querySelector('nav')
const current = list?.querySelector('[aria-current]')
if (list != null && current instanceof HTMLElement && current.offsetTop > list.clientHeight)
  list.scrollTop = current.offsetTop - list.clientHeight / 3
