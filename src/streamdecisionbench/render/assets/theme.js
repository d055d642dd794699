// The button that sets the colour theme: as the system has it, light or dark.

{
  const button = document.getElementById('theme');
  const order = ['auto', 'light', 'dark'];
  let now = 0;
  button.addEventListener('click', () => {
    now = (now + 1) % order.length;
    const name = order[now];
    if (name === 'auto') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = name;
    button.textContent = `Theme: ${name}`;
    button.setAttribute('aria-label', `Colour theme: ${name === 'auto' ? 'as the system' : name}`);
  });
}
