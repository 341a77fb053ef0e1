/* A source of 1979: it includes nothing. */
unsigned short buf[512];
int counted();

work()
{
	register long i;
	volatile long n;
	for (i = 0; i < 150000000; i++)
		n = i;
}

main()
{
	profil(buf, sizeof buf, (int)work, 0177777);
	work();
	profil(0, 0, 0, 0);
	return counted();
}
