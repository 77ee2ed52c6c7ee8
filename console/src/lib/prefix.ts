// What a proxy puts before our paths, as the daemon has written it into the page. Whoever opens the daemon itself, past the
// proxy, has nothing there.
const given = document.documentElement.dataset['prefix'] ?? ''

export const PREFIX = `${window.location.pathname}/`.startsWith(`${given}/console/`) ? given : ''
